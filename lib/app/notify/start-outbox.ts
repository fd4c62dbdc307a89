import type { Gauges } from '../../contracts/telemetry/metrics.ts';
import { HOUR, SECOND } from '../../domain/shared/time.ts';
import type { Clock, Logger, OutboxStarter } from '../ports.ts';
import type { OutboxStore } from './ports.ts';

/** After a commit that wrote notices: best effort, the commit has happened. */
export function announceWith(starter: OutboxStarter, log: Logger): (notices: readonly string[]) => Promise<void> {
  return async (notices) => {
    try {
      await starter.start(notices);
    } catch (error) {
      log.warn('outbox_not_started', { notices: notices.length, error: String(error) });
    }
  };
}

export interface OutboxTick {
  readonly clock: Clock;
  readonly outbox: OutboxStore;
  readonly starter: OutboxStarter;
}

/** Longer than any try is put off. */
const AHEAD = 2 * HOUR;
/** So many of those next in line say how old the oldest is. */
const SAMPLE = 20;

/**
 * The tick's part: one query, and the outbox function only where something is due (DESIGN §4). Answers how long the oldest has waited, also one whose
 * next try is put off.
 */
export async function outboxTick({ clock, outbox, starter }: OutboxTick): Promise<Gauges> {
  const now = clock.now();
  const waiting = await outbox.due(now + AHEAD, SAMPLE);
  if (waiting.some(({ next_try }) => next_try <= now)) await starter.start([]);
  const oldest = Math.min(now, ...waiting.map(({ notice }) => notice.at));
  return { OutboxAgeSeconds: (now - oldest) / SECOND };
}
