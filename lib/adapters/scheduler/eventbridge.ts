import {
  ConflictException,
  CreateScheduleCommand,
  type CreateScheduleCommandInput,
  DeleteScheduleCommand,
  ListSchedulesCommand,
  ResourceNotFoundException,
  SchedulerClient,
  UpdateScheduleCommand,
} from '@aws-sdk/client-scheduler';
import type { Scheduler, ScheduleTimes } from '../../app/ports.ts';
import { toEventBridge } from '../../domain/recurrence/eventbridge.ts';
import { NO_SCHEDULER } from './none.ts';

/** What all schedules have in common. */
export interface ScheduleTarget {
  /** Schedule group of their own; nothing else in it is touched. */
  readonly group: string;
  /** The trigger function, and the role that may call it. */
  readonly function_arn: string;
  readonly role_arn: string;
  /** Queue for calls that could not be delivered. */
  readonly dead_letter_arn: string;
}

/** After so long a later fire counts anyway, or the tick has made up for it. */
const RETRY = { MaximumEventAgeInSeconds: 3600, MaximumRetryAttempts: 10 };
/** EventBridge puts the minute that it means in its place. */
const SCHEDULED_TIME = '<aws.scheduler.scheduled-time>';

/** The second one is needed where a cron has both day fields, which AWS cannot say in one. */
const namesOf = (config: string): readonly [string, string] => [`cron-${config}`, `cron-${config}-2`];
const NAME = /^cron-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(-2)?$/;

/** The real thing: EventBridge Scheduler (DESIGN §5). */
export class EventBridgeScheduler implements Scheduler {
  readonly revision: string;
  readonly #client: SchedulerClient;
  readonly #target: ScheduleTarget;

  constructor(client: SchedulerClient, target: ScheduleTarget) {
    this.#client = client;
    this.#target = target;
    this.revision = JSON.stringify([target.group, target.function_arn, target.role_arn, target.dead_letter_arn, RETRY]);
  }

  async put(config: string, times: ScheduleTimes): Promise<void> {
    const { expressions, timezone } = toEventBridge(times.cron, times.time_zone);
    for (const [index, name] of namesOf(config).entries()) {
      const expression = expressions[index];
      if (expression === undefined) await this.#delete(name);
      else await this.#put(this.#schedule(config, name, expression, timezone));
    }
  }

  async remove(config: string): Promise<void> {
    for (const name of namesOf(config)) await this.#delete(name);
  }

  async differences(wanted: ReadonlyMap<string, ScheduleTimes>): Promise<readonly string[]> {
    const there = await this.#names();
    const should = new Set(
      [...wanted].flatMap(([config, { cron, time_zone }]) => namesOf(config).slice(0, toEventBridge(cron, time_zone).expressions.length)),
    );
    const different = [...there, ...should].filter((name) => there.has(name) !== should.has(name));
    return [...new Set(different.flatMap((name) => NAME.exec(name)?.[1] ?? []))];
  }

  async #names(): Promise<Set<string>> {
    const names = new Set<string>();
    let NextToken: string | undefined;
    do {
      const page = await this.#client.send(
        new ListSchedulesCommand({ GroupName: this.#target.group, NamePrefix: 'cron-', MaxResults: 100, NextToken }),
      );
      for (const { Name } of page.Schedules ?? []) if (Name !== undefined && NAME.test(Name)) names.add(Name);
      NextToken = page.NextToken;
    } while (NextToken !== undefined);
    return names;
  }

  #schedule(config: string, name: string, expression: string, zone: string): CreateScheduleCommandInput {
    const { group, function_arn, role_arn, dead_letter_arn } = this.#target;
    return {
      GroupName: group,
      Name: name,
      ScheduleExpression: expression,
      ScheduleExpressionTimezone: zone,
      FlexibleTimeWindow: { Mode: 'OFF' },
      State: 'ENABLED',
      Target: {
        Arn: function_arn,
        RoleArn: role_arn,
        Input: JSON.stringify({ rollout_config: config, scheduled_time: SCHEDULED_TIME }),
        DeadLetterConfig: { Arn: dead_letter_arn },
        RetryPolicy: RETRY,
      },
    };
  }

  /** Whoever else makes or removes it at the same moment: it is there in the end, as asked for last. */
  async #put(schedule: CreateScheduleCommandInput): Promise<void> {
    if (await this.#update(schedule)) return;
    try {
      await this.#client.send(new CreateScheduleCommand(schedule));
    } catch (error) {
      if (!(error instanceof ConflictException) || !(await this.#update(schedule))) throw error;
    }
  }

  async #update(schedule: CreateScheduleCommandInput): Promise<boolean> {
    try {
      await this.#client.send(new UpdateScheduleCommand(schedule));
      return true;
    } catch (error) {
      if (error instanceof ResourceNotFoundException) return false;
      throw error;
    }
  }

  async #delete(Name: string): Promise<void> {
    try {
      await this.#client.send(new DeleteScheduleCommand({ GroupName: this.#target.group, Name }));
    } catch (error) {
      if (!(error instanceof ResourceNotFoundException)) throw error;
    }
  }
}

export function schedulerFrom(target: { readonly [K in keyof ScheduleTarget]: string | undefined }): Scheduler {
  const { group, function_arn, role_arn, dead_letter_arn } = target;
  if (group === undefined || function_arn === undefined || role_arn === undefined || dead_letter_arn === undefined) return NO_SCHEDULER;
  // Every call has an end well before the function's own; what does not get through is left to the tick.
  const client = new SchedulerClient({
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 4_000, throwOnRequestTimeout: true },
  });
  return new EventBridgeScheduler(client, { group, function_arn, role_arn, dead_letter_arn });
}
