import type { Scheduler, ScheduleTimes } from '../../lib/app/ports.ts';

/** EventBridge Scheduler as a map; `broken` = every call fails with this, before or after it was done. */
export class FakeScheduler implements Scheduler {
  revision = 'first';
  broken: { readonly error: Error; readonly done: boolean } | null = null;
  /** Runs in the middle of a put, as somebody else's change does. */
  meanwhile: (() => Promise<void>) | null = null;
  readonly schedules = new Map<string, ScheduleTimes>();

  /** `30 4 * * * Europe/Berlin` */
  of(config: string): string | null {
    const times = this.schedules.get(config);
    return times === undefined ? null : `${times.cron.text} ${times.time_zone}`;
  }

  async put(config: string, times: ScheduleTimes): Promise<void> {
    const meanwhile = this.meanwhile;
    this.meanwhile = null;
    await meanwhile?.();
    this.#change(() => this.schedules.set(config, times));
  }

  async remove(config: string): Promise<void> {
    this.#change(() => this.schedules.delete(config));
  }

  async differences(wanted: ReadonlyMap<string, ScheduleTimes>): Promise<readonly string[]> {
    if (this.broken !== null) throw this.broken.error;
    const all = new Set([...wanted.keys(), ...this.schedules.keys()]);
    return [...all].filter((config) => wanted.has(config) !== this.schedules.has(config));
  }

  #change(change: () => void): void {
    if (this.broken === null || this.broken.done) change();
    if (this.broken !== null) throw this.broken.error;
  }
}
