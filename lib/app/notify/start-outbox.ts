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

/** The tick's part: one query, and the outbox function only where something is left (DESIGN §4). */
export async function outboxTick({ clock, outbox, starter }: OutboxTick): Promise<void> {
  if ((await outbox.due(clock.now(), 1)).length > 0) await starter.start([]);
}
