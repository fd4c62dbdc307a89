import { FUNCTIONS, type FunctionName } from '../../infra/functions.ts';
import { table } from './markdown.ts';

/** One thing that a role may do: an action on a resource, as text; `if …` when a condition narrows it. */
type Allowed = string;

interface Resource {
  readonly Type: string;
  readonly Properties: Readonly<Record<string, unknown>>;
}
interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: unknown;
}
interface Deployed {
  readonly service: { readonly Resources: Readonly<Record<string, Resource>> };
  /** Construct paths by logical id. */
  readonly paths: ReadonlyMap<string, string>;
}

/** What the columns of the table stand for; a permission that none of them has makes the page's test fail. */
const COLUMNS: Readonly<Record<string, readonly RegExp[]>> = {
  'read table': [/^dynamodb:(GetItem|BatchGetItem|Query) on table(\/index\/gsi[12])?$/],
  'write table': [/^dynamodb:(PutItem|UpdateItem|DeleteItem|ConditionCheckItem) on table$/],
  'access keys only': [/^dynamodb:(GetItem|PutItem) on table if .*access_key#\*.*$/],
  'start waves': [/^states:StartExecution on machine wave$/],
  'start enqueue runs': [/^states:StartExecution on machine enqueue$/],
  'wake waves': [/^states:SendTaskSuccess on machine wave$/],
  'keep schedules': [
    /^scheduler:(Get|List|Create|Update|Delete)Schedules? on schedules of the group$/,
    /^iam:PassRole on role of schedules$/,
  ],
  'publish notices': [/^sns:Publish on Notices\/Topic$/, /^kms:(Decrypt|GenerateDataKey\*) on Notices\/Key$/],
  trigger: [/^lambda:InvokeFunction on trigger$/],
  outbox: [/^lambda:InvokeFunction on outbox$/],
  render: [/^lambda:InvokeFunction on render$/],
};

/** What every function may: write its own log, send traces; and, where nobody waits for it, hand over calls that failed for good. */
const isCommon = (name: FunctionName, allowed: Allowed): boolean =>
  new RegExp(
    `^(logs:(CreateLogStream|PutLogEvents) on Functions/${name}/Logs|xray:(PutTraceSegments|PutTelemetryRecords) on \\*|sqs:(SendMessage|GetQueueAttributes|GetQueueUrl) on Undelivered/Queue)$`,
  ).test(allowed);

const listOf = <T>(value: T | readonly T[]): readonly T[] => (Array.isArray(value) ? (value as readonly T[]) : [value as T]);

/** Everything that the policies of a role allow. */
export function allowedTo(deployed: Deployed, rolePath: string): Allowed[] {
  const policies = Object.values(deployed.service.Resources).filter(
    (r) => r.Type === 'AWS::IAM::Policy' && JSON.stringify(rolesOf(deployed, r)).includes(`"${rolePath}"`),
  );
  const statements = policies.flatMap((p) => (p.Properties['PolicyDocument'] as { Statement: Statement[] }).Statement);
  return statements.flatMap((s) =>
    listOf(s.Action).flatMap((action) =>
      listOf(s.Resource).map(
        (resource) => `${action} on ${nameOf(deployed, resource)}${s.Condition === undefined ? '' : ` if ${JSON.stringify(s.Condition)}`}`,
      ),
    ),
  );
}

const rolesOf = (deployed: Deployed, policy: Resource): string[] =>
  listOf(policy.Properties['Roles']).map((role) => textOf(deployed, role));

/** The resource in words: what the intrinsic functions point at. */
function nameOf(deployed: Deployed, resource: unknown): string {
  const text = textOf(deployed, resource);
  const known: readonly (readonly [RegExp, string])[] = [
    [/^.*:ExportsOutput\w*DataTable\w*(\/index\/gsi[12])?$/, 'table$1'],
    [/^arn:.*:states:.*:stateMachine:.*-(wave|enqueue)$/, 'machine $1'],
    [/^arn:.*:scheduler:.*:schedule\/.*Schedules-Group.*\/\*$/, 'schedules of the group'],
    [/^Schedules\/Role$/, 'role of schedules'],
    [/^Functions\/([a-z-]+)\/Function(:\$LATEST)?$/, '$1'],
  ];
  const [pattern, words] = known.find(([p]) => p.test(text)) ?? [/^$/, ''];
  return text.replace(pattern, words);
}

function textOf(deployed: Deployed, value: unknown): string {
  if (typeof value === 'string') return value;
  const [kind, inner] = Object.entries(value as Record<string, unknown>)[0] ?? ['', ''];
  if (kind === 'Ref') return deployed.paths.get(String(inner)) ?? `<${String(inner)}>`;
  if (kind === 'Fn::GetAtt') return textOf(deployed, { Ref: (inner as string[])[0] });
  if (kind === 'Fn::ImportValue') return String(inner);
  if (kind === 'Fn::Join') return ((inner as [string, unknown[]])[1] ?? []).map((part) => textOf(deployed, part)).join('');
  throw new Error(`A permission names its resource with ${kind}, which scripts/docs/permissions.ts does not read.`);
}

/** Function → columns; from the template alone. @throws for a permission that no column stands for. */
export function permissionTable(deployed: Deployed): Record<string, string[]> {
  return Object.fromEntries(
    (Object.keys(FUNCTIONS) as FunctionName[]).map((name) => {
      const own = allowedTo(deployed, `Functions/${name}/Role`).filter((allowed) => !isCommon(name, allowed));
      const unknown = own.filter((allowed) => !Object.values(COLUMNS).some((patterns) => patterns.some((p) => p.test(allowed))));
      if (unknown.length > 0)
        throw new Error(`Function ${name} may do what no column of the table of permissions says: ${unknown.join('; ')}`);
      return [
        name,
        Object.entries(COLUMNS).flatMap(([column, patterns]) => (own.some((a) => patterns.some((p) => p.test(a))) ? [column] : [])),
      ];
    }),
  );
}

const BEGIN = '<!-- permissions: made by `npm run gen` -->';
const END = '<!-- /permissions -->';

/** docs/architecture.md with the table of the template in its place. */
export function withPermissions(page: string, deployed: Deployed): string {
  const columns = Object.keys(COLUMNS);
  const rows = Object.entries(permissionTable(deployed)).map(([name, has]) => [
    `\`${name}\``,
    ...columns.map((c) => (has.includes(c) ? '●' : '')),
  ]);
  const [before = '', rest = ''] = page.split(BEGIN);
  const after = rest.split(END)[1] ?? '';
  return `${before}${BEGIN}\n\n${table(['function', ...columns], rows)}\n${END}${after}`;
}
