import { makeHandler as makeTrigger } from '../../functions/trigger/handler.ts';
import { enqueuePage } from '../../lib/app/engine/enqueue-page.ts';
import { finishEnqueue, planPages } from '../../lib/app/engine/enqueue-pages.ts';
import { minuteTick } from '../../lib/app/tick.ts';
import { MINUTE } from '../../lib/domain/shared/time.ts';
import { type Answered, type Api, startApi } from './api.ts';

export const CONFIGS = 'block-rollout-configs/';
export const at = (text: string): number => Date.parse(text);
/** `2026-03-30T00:30Z` */
export const minuteText = (instant: number | string): string => `${new Date(instant).toISOString().slice(0, 16)}Z`;

/** The API and the functions behind it on a clock that jumps; the test plays the scheduler, or leaves its calls out. */
export class CronApi {
  readonly api: Api;
  readonly #trigger: (event: unknown, context: never) => Promise<unknown>;

  private constructor(api: Api) {
    this.api = api;
    this.#trigger = makeTrigger(api.services);
  }

  static async start(now: string): Promise<CronApi> {
    return new CronApi(await startApi({ now: at(now) }));
  }

  /** A config that runs `backup` on every cluster, by this cron. */
  create(cron_expression: string, fields: Record<string, unknown> = {}): Promise<Answered> {
    const schedule = { name: 'nightly', kind: 'trigger', trigger_type: 'schedule', block_name: 'nightly', action_name: 'backup' };
    return this.api.post(CONFIGS, { ...schedule, cron_expression, ...fields });
  }

  async made(cron_expression: string, fields: Record<string, unknown> = {}): Promise<string> {
    return done(await this.create(cron_expression, fields)).id;
  }

  async patch(id: string, body: Record<string, unknown>): Promise<Answered['body']> {
    return done(await this.api.send('PATCH', `${CONFIGS}${id}/`, { body }));
  }

  async read(id: string): Promise<Answered['body']> {
    return done(await this.api.get(`${CONFIGS}${id}/`));
  }

  call(event: unknown): Promise<unknown> {
    return this.#trigger(event, {} as never);
  }

  /** The scheduler's call for the minute in which it arrives. */
  callAt(rollout_config: string, time: string): Promise<unknown> {
    this.api.clock.to(at(time));
    return this.call({ rollout_config, scheduled_time: new Date(Math.floor(at(time) / MINUTE) * MINUTE).toISOString() });
  }

  tick(time?: string): Promise<void> {
    if (time !== undefined) this.api.clock.to(at(time));
    return minuteTick(this.api.services);
  }

  /** Due and late, of the latest fire; null before the first. */
  async lastFire(id: string): Promise<readonly [string, string | null] | null> {
    const { last_fire } = await this.read(id);
    return last_fire === null ? null : [minuteText(last_fire.due_at), last_fire.late];
  }

  /** Enqueue runs of fires that were started, as the minutes that they are due, in order. */
  async fires(): Promise<readonly string[]> {
    const ids = this.api.started.filter((what) => what.startsWith('enqueue ')).map((what) => what.slice('enqueue '.length));
    const runs = await Promise.all([...new Set(ids)].map((id) => this.api.services.engine.engine.enqueueRun(id)));
    return runs.flatMap((run) => (run?.kind === 'schedule' && run.scheduled_for !== null ? [minuteText(run.scheduled_for)] : []));
  }

  /** Does the work of the enqueue runs that were started, as their executions do. */
  async enqueue(): Promise<void> {
    const { engine } = this.api.services;
    for (const what of this.api.started.splice(0)) {
      const [kind, enqueue_run = ''] = what.split(' ');
      if (kind !== 'enqueue') continue;
      const { pages } = await planPages(engine, { enqueue_run, execution: 'test' });
      for (const page of pages) await enqueuePage(engine, { enqueue_run, execution: 'test', page });
      await finishEnqueue(engine, { enqueue_run, execution: 'test' });
    }
  }

  /** Events of the log since the last look. */
  said(event: string): readonly Record<string, unknown>[] {
    return this.api.said
      .splice(0)
      .filter((line) => line.event === event)
      .map((line) => line.fields);
  }

  stop(): Promise<void> {
    return this.api.stop();
  }
}

export function done({ status, body }: Answered): Answered['body'] {
  if (status < 200 || status > 299) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return body;
}
