import * as z from 'zod';

/** SPEC §11: the message of the notices topic. The same `id` is the same event, however often it arrives. */
export const NOTICE_EVENTS = [
  'wave_opened',
  'wave_blocked',
  'wave_completed',
  'wave_cancelled',
  'item_failed',
  'downtime_opened',
  'downtime_closed',
  'platform_alert',
] as const;

export const noticeMessage = z.object({
  id: z.uuid(),
  event: z.enum(NOTICE_EVENTS),
  /** When it happened, not when it was sent. */
  at: z.iso.datetime(),
  /** Id of the organization; null = concerns the platform. */
  organization: z.uuid().nullable(),
  /** Id of the wave, item or downtime; `platform` for an alert. */
  subject: z.string(),
  /** Path of the subject in the API; null for an alert. */
  url: z.string().nullable(),
  /** One sentence for a person. */
  text: z.string(),
  /** Numbers and ids that belong to the event. */
  data: z.record(z.string(), z.unknown()),
});
export type NoticeMessage = z.infer<typeof noticeMessage>;

/** What the outbox function is asked for: these notices; none = whatever is due. */
export const outboxRequest = z.object({ notices: z.array(z.uuid()).max(1_000).default([]) });
