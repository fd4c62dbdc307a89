import { GetScheduleCommand, ListSchedulesCommand, SchedulerClient } from '@aws-sdk/client-scheduler';

export interface SeenSchedule {
  readonly expression: string;
  readonly zone: string;
  readonly target: string;
}

/** The schedules of a rollout config, as EventBridge has them. */
export async function schedulesOf(config: string): Promise<SeenSchedule[]> {
  const client = new SchedulerClient({});
  const { Schedules = [] } = await client.send(new ListSchedulesCommand({ NamePrefix: `cron-${config}` }));
  return Promise.all(
    Schedules.map(async ({ Name, GroupName }) => {
      const found = await client.send(new GetScheduleCommand({ Name, GroupName }));
      return {
        expression: found.ScheduleExpression ?? '',
        zone: found.ScheduleExpressionTimezone ?? '',
        target: found.Target?.Arn ?? '',
      };
    }),
  );
}
