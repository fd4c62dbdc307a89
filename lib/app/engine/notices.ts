import type { Instant } from '../../domain/shared/time.ts';
import type { Ids } from '../ports.ts';
import type { Notice } from './ports.ts';

export function noticeOf(
  services: { ids: Ids },
  event: Notice['event'],
  subject: string,
  organization: string | null,
  text: string,
  now: Instant,
): Notice {
  return { id: services.ids.fresh(), event, at: now, subject, organization, text, data: {} };
}
