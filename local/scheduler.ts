import type { Clock, Logger, Scheduler, ScheduleTimes } from '../lib/app/ports.ts';
import { firesAt } from '../lib/domain/recurrence/fires.ts';
import { type Instant, MINUTE, type Millis } from '../lib/domain/shared/time.ts';
import type { Activity } from './activity.ts';

export interface SchedulerOptions {
  readonly clock: Clock;
  readonly activity: Activity;
  readonly log: Logger;
  /** How often the tick runs; a minute, if not given. */
  readonly tickMs?: Millis;
}

/** Whom it calls at each whole minute of the clock, one after the other; a minute that passes meanwhile is left out, and the tick makes up for it. */
export interface Scheduled {
  /** At the minutes that a config's cron names, as EventBridge calls the function. */
  readonly trigger: (event: { readonly rollout_config: string; readonly scheduled_time: string }) => Promise<unknown>;
  readonly tick: () => Promise<unknown>;
}

/** Stands for EventBridge Scheduler: the static tick, and the schedules of cron configs, in memory. A new process is told them by its first look. */
export class LocalScheduler implements Scheduler {
  readonly revision = 'local';
  readonly #options: SchedulerOptions;
  readonly #schedules = new Map<string, ScheduleTimes>();
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  put(config: string, times: ScheduleTimes): Promise<void> {
    this.#schedules.set(config, times);
    return Promise.resolve();
  }

  remove(config: string): Promise<void> {
    this.#schedules.delete(config);
    return Promise.resolve();
  }

  differences(wanted: ReadonlyMap<string, ScheduleTimes>): Promise<readonly string[]> {
    const all = [...wanted.keys(), ...this.#schedules.keys()];
    return Promise.resolve(all.filter((config) => wanted.has(config) !== this.#schedules.has(config)));
  }

  start(scheduled: Scheduled): void {
    this.#running = this.#run(scheduled);
  }

  /** What runs is finished first. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(scheduled: Scheduled): Promise<void> {
    const { clock, activity } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const minute = (Math.floor(clock.now() / MINUTE) + 1) * MINUTE;
      await clock.until(minute, signal).catch(() => undefined);
      if (!signal.aborted) await activity.run(() => this.#minute(scheduled, minute));
    }
  }

  async #minute({ trigger, tick }: Scheduled, minute: Instant): Promise<void> {
    const due = [...this.#schedules].filter(([, { cron, time_zone }]) => firesAt(cron, time_zone, minute));
    const scheduled_time = new Date(minute).toISOString();
    for (const [rollout_config] of due) await this.#guarded('trigger_failed', () => trigger({ rollout_config, scheduled_time }));
    if (minute % (this.#options.tickMs ?? MINUTE) === 0) await this.#guarded('tick_failed', tick);
  }

  async #guarded(failed: 'trigger_failed' | 'tick_failed', work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#options.log.error(failed, { error: String(error) });
    }
  }
}
