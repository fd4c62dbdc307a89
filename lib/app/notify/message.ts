import type { NoticeMessage } from '../../contracts/events/notice.ts';
import type { Notice, NoticeEvent } from '../ports.ts';
import { type Addressed, urlOf } from '../urls.ts';

const SUBJECTS: Readonly<Record<NoticeEvent, Addressed | null>> = {
  wave_opened: 'block_rollout',
  wave_blocked: 'block_rollout',
  wave_completed: 'block_rollout',
  wave_cancelled: 'block_rollout',
  item_failed: 'block_rollout_item',
  downtime_opened: 'downtime',
  downtime_closed: 'downtime',
  platform_alert: null,
};

/** What everybody outside gets to see of a notice. */
export function messageOf({ id, event, at, organization, subject, text, data }: Notice): NoticeMessage {
  const type = SUBJECTS[event];
  return { id, event, at: new Date(at).toISOString(), organization, subject, url: type === null ? null : urlOf(type, subject), text, data };
}
