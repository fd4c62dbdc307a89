import * as z from 'zod';

const text = z.string().min(1);
const arnOf = (service: string) => z.string().regex(new RegExp(`^arn:[a-z-]+:${service}:`), `is not the ARN of something in ${service}`);

/** Every value that any function is configured with. */
const VALUES = {
  TABLE_NAME: text,
  WAVE_MACHINE_ARN: arnOf('states'),
  ENQUEUE_MACHINE_ARN: arnOf('states'),
  /** Hash of the deployed wave definition; an execution that carries another goes on in a new generation. */
  WAVE_DEFINITION: text,
  NOTICES_TOPIC_ARN: arnOf('sns'),
  OUTBOX_FUNCTION_NAME: text,
  RENDER_FUNCTION_NAME: text,
  /** Name of the deployment: the dimension of its metrics. */
  STAGE: text.optional(),
  /** Lines of the log below it are not written; INFO if not given. */
  LOG_LEVEL: z.enum(['DEBUG', 'INFO', 'WARN', 'ERROR']).optional(),
  SCHEDULE_GROUP_NAME: text,
  /** Of the role that schedules assume to call the trigger function. */
  SCHEDULE_ROLE_ARN: arnOf('iam'),
  TRIGGER_FUNCTION_ARN: arnOf('lambda'),
  SCHEDULE_DLQ_ARN: arnOf('sqs'),
} as const;
type Name = keyof typeof VALUES;

const SCHEDULES = ['SCHEDULE_GROUP_NAME', 'SCHEDULE_ROLE_ARN', 'TRIGGER_FUNCTION_ARN', 'SCHEDULE_DLQ_ARN'] as const;

/**
 * Which function needs which values, and so what it may do (DESIGN §6): one without the ARN of a state machine starts no execution of it.
 * A test compares this with the template.
 */
export const NEEDS = {
  'agent-api': ['TABLE_NAME', 'TRIGGER_FUNCTION_ARN', 'OUTBOX_FUNCTION_NAME'],
  api: ['TABLE_NAME', 'WAVE_MACHINE_ARN', 'ENQUEUE_MACHINE_ARN', 'OUTBOX_FUNCTION_NAME', 'RENDER_FUNCTION_NAME', ...SCHEDULES],
  authorizer: ['TABLE_NAME'],
  'wave-plan': ['TABLE_NAME', 'WAVE_MACHINE_ARN', 'ENQUEUE_MACHINE_ARN', 'WAVE_DEFINITION', 'OUTBOX_FUNCTION_NAME'],
  'wave-dispatch': ['TABLE_NAME'],
  'wave-await': ['TABLE_NAME'],
  'wave-end': ['TABLE_NAME'],
  'enqueue-plan': ['TABLE_NAME'],
  'enqueue-page': ['TABLE_NAME', 'OUTBOX_FUNCTION_NAME', 'RENDER_FUNCTION_NAME'],
  trigger: ['TABLE_NAME', 'ENQUEUE_MACHINE_ARN'],
  tick: ['TABLE_NAME', 'WAVE_MACHINE_ARN', 'ENQUEUE_MACHINE_ARN', 'OUTBOX_FUNCTION_NAME', 'RENDER_FUNCTION_NAME', ...SCHEDULES],
  'execution-watch': ['TABLE_NAME', 'WAVE_MACHINE_ARN', 'ENQUEUE_MACHINE_ARN'],
  outbox: ['TABLE_NAME', 'NOTICES_TOPIC_ARN'],
  /** It reads none: what it renders may not find any (SPEC §8). */
  render: [],
} as const satisfies Record<string, readonly Name[]>;
export type FunctionName = keyof typeof NEEDS;

/** What every function may be given besides. */
const COMMON = ['STAGE', 'LOG_LEVEL'] as const;

/** What a function needs is there and well-formed; everything else is absent. */
export type Environment = { readonly [N in Name]?: Exclude<z.output<(typeof VALUES)[N]>, undefined> } & { readonly TABLE_NAME: string };

/** What the function is configured with; missing or broken values are named, with the function's name, at cold start and not at the first use. */
export function readEnvironment(name: FunctionName, values: Readonly<Record<string, string | undefined>>): Environment {
  const needs: readonly Name[] = [...NEEDS[name], ...COMMON];
  const schema = z.object(Object.fromEntries(needs.map((need) => [need, VALUES[need]])));
  const read = schema.safeParse(values);
  if (read.success) return read.data as Environment;
  const problems = read.error.issues.map(({ path, message }) => `${path.join('.')} ${values[String(path[0])] ? message : 'is missing'}`);
  throw new Error(`Function ${name} is not configured completely: ${problems.join('; ')}. Deploy the stacks anew (npm run deploy).`);
}
