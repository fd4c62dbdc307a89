import { documentClient, Table } from '../adapters/dynamodb/client.ts';
import { DynamoOutboxStore } from '../adapters/dynamodb/outbox-store.ts';
import { jitteredRetry } from '../adapters/dynamodb/retry.ts';
import { snsNotifier } from '../adapters/notify/sns.ts';
import { lambdaTelemetry } from '../adapters/observability/telemetry.ts';
import { SystemClock } from '../adapters/system/clock.ts';
import type { NoticeServices } from '../app/notify/ports.ts';
import { readEnvironment } from './environment.ts';
import { type Handler, observed, once } from './once.ts';

/** The entry point of the outbox function: the only one that may publish, and it works with nothing else of the program. */
export const outboxStart = (make: (services: NoticeServices) => Handler): Handler =>
  once(() => {
    const { TABLE_NAME, NOTICES_TOPIC_ARN = '', STAGE: stage, LOG_LEVEL: level } = readEnvironment('outbox', process.env);
    const clock = new SystemClock();
    const telemetry = lambdaTelemetry(clock, { stage, level });
    const outbox = new DynamoOutboxStore(new Table(documentClient({}), TABLE_NAME, jitteredRetry(Math.random)));
    return observed(telemetry, make({ outbox, notifier: snsNotifier(NOTICES_TOPIC_ARN), clock, log: telemetry.log }));
  });
