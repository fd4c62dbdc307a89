import type { Clock, Logger } from '../lib/app/ports.ts';
import { MINUTE } from '../lib/domain/shared/time.ts';
import type { Activity } from './activity.ts';

export interface SchedulerOptions {
  readonly clock: Clock;
  readonly activity: Activity;
  readonly log: Logger;
  /** Called at each whole minute of the clock, one after the other; a minute that passes meanwhile is left out. */
  readonly tick: () => Promise<unknown>;
}

/** Stands for the schedules of EventBridge. */
export class LocalScheduler {
  readonly #options: SchedulerOptions;
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** A tick that runs is finished first. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, activity } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await clock.until((Math.floor(clock.now() / MINUTE) + 1) * MINUTE, signal).catch(() => undefined);
      if (!signal.aborted) await activity.run(() => this.#tick());
    }
  }

  async #tick(): Promise<void> {
    try {
      await this.#options.tick();
    } catch (error) {
      this.#options.log.error('tick_failed', { error: String(error) });
    }
  }
}
