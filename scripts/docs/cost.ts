import { FUNCTIONS } from '../../infra/functions.ts';
import { METRICS } from '../../lib/contracts/telemetry/metrics.ts';
import { COUNTED } from './counted.ts';
import { table } from './markdown.ts';

/** US dollars, without taxes, discounts and free tiers. */
const PRICED_ON = '2026-11-29';

interface Prices {
  /** Per million. */
  readonly writeUnits: number;
  readonly readUnits: number;
  readonly gatewayRequests: number;
  readonly functionCalls: number;
  readonly transitions: number;
  readonly schedules: number;
  readonly traces: number;
  /** Per GB and second of a function on arm64. */
  readonly functionTime: number;
  /** Per GB. */
  readonly logs: number;
  readonly dataOut: number;
  /** Per GB and month: the table with its point-in-time recovery. */
  readonly storage: number;
  /** Per month, each. */
  readonly metric: number;
  readonly alarmMetric: number;
  readonly dashboard: number;
  readonly key: number;
}

const PRICES = {
  'us-east-1': {
    ...{ writeUnits: 0.625, readUnits: 0.125, gatewayRequests: 1, functionCalls: 0.2, transitions: 25, schedules: 1, traces: 5 },
    ...{ functionTime: 0.0000133334, logs: 0.5, dataOut: 0.09, storage: 0.45, metric: 0.3, alarmMetric: 0.1, dashboard: 3, key: 1 },
  },
  'eu-central-1': {
    ...{ writeUnits: 0.7625, readUnits: 0.1525, gatewayRequests: 1.2, functionCalls: 0.2, transitions: 25, schedules: 1.2, traces: 5 },
    ...{ functionTime: 0.0000133334, logs: 0.63, dataOut: 0.09, storage: 0.55, metric: 0.3, alarmMetric: 0.1, dashboard: 3, key: 1 },
  },
} as const satisfies Readonly<Record<string, Prices>>;
type Region = keyof typeof PRICES;
const REGIONS = Object.keys(PRICES) as Region[];

const MINUTES_A_MONTH = 43_800;
const MILLION = 1_000_000;
const GB = 1024 ** 3;

/** What no test counts: rather too much than too little. */
const ASSUMED = {
  heartbeatMilliseconds: 20,
  /** The runtime's three lines and one line of the access log. */
  heartbeatLogBytes: 750,
  heartbeatAnswerBytes: 1_200,
  /** Of the table, as the tick's budget says: per agent and minute. */
  tickReadsPerAgent: 0.05,
  /** Lambda traces one call of a second and a twentieth of the others. */
  tracedShare: 0.05,
  /** An attempt lasts so long; meanwhile its agent reports each 5 s and sends its log each 10 s, 4 KiB packed. */
  attemptSeconds: 300,
  logWriteUnits: 4,
  logReadUnits: 4,
  /** A turn of the wave for each item: in a large wave one turn serves many. */
  transitionsPerItem: 8,
  stepsPerItem: 5,
  stepMilliseconds: 150,
  itemLogBytes: 30_000,
  tickMilliseconds: 1_500,
  tickReads: 30,
  tickLogBytes: 2_000,
  keys: 2,
} as const;

type Line = readonly [what: string, amount: string, dollars: (p: Prices) => number];

const per = (price: number, amount: number): number => (price * amount) / MILLION;
const memoryGb = (name: keyof typeof FUNCTIONS): number => FUNCTIONS[name].memory / 1024;
const whole = (n: number): string => Math.round(n).toLocaleString('en-US');

/** So many reports of agents, all told. */
function reports(n: number): Line[] {
  const seconds = (n * ASSUMED.heartbeatMilliseconds) / 1000;
  const { write } = COUNTED.heartbeat;
  const gb = (bytes: number): number => (n * bytes) / GB;
  return [
    ['requests at the gateway', whole(n), (p) => per(p.gatewayRequests, n)],
    [
      'calls of `agent-api`',
      `${whole(n)}, ${ASSUMED.heartbeatMilliseconds} ms each`,
      (p) => per(p.functionCalls, n) + seconds * memoryGb('agent-api') * p.functionTime,
    ],
    ['write units of the table', `${whole(n * write)} (${write} each, counted)`, (p) => per(p.writeUnits, n * write)],
    ['log', `${(gb(ASSUMED.heartbeatLogBytes) * 1024).toFixed(1)} MiB`, (p) => gb(ASSUMED.heartbeatLogBytes) * p.logs],
    ['traces', whole(n * ASSUMED.tracedShare), (p) => per(p.traces, n * ASSUMED.tracedShare)],
    ['answers', `${(gb(ASSUMED.heartbeatAnswerBytes) * 1024).toFixed(1)} MiB`, (p) => gb(ASSUMED.heartbeatAnswerBytes) * p.dataOut],
  ];
}

const cluster: Line[] = [
  ...reports(MINUTES_A_MONTH),
  [
    'the tick looks at it',
    `${ASSUMED.tickReadsPerAgent} read units a minute (budget)`,
    (p) => per(p.readUnits, MINUTES_A_MONTH * ASSUMED.tickReadsPerAgent),
  ],
];

const ITEMS = 1_000;
const beats = (ITEMS * ASSUMED.attemptSeconds) / 5;
const tails = (ITEMS * ASSUMED.attemptSeconds) / 10;
const steps = ITEMS * ASSUMED.stepsPerItem;

const items: Line[] = [
  [
    'table, life of the item',
    `${COUNTED.item.write} write, ${COUNTED.item.read} read units each (counted, at most)`,
    (p) => per(p.writeUnits, ITEMS * COUNTED.item.write) + per(p.readUnits, ITEMS * COUNTED.item.read),
  ],
  [
    'reports while it is worked on',
    `${whole(beats)}, one each 5 s for ${ASSUMED.attemptSeconds / 60} min`,
    (p) => dollars(reports(beats), p),
  ],
  [
    'log tails',
    `${whole(tails)}, ${ASSUMED.logWriteUnits} write and ${ASSUMED.logReadUnits} read units each`,
    (p) =>
      dollars(reports(tails), p) + per(p.writeUnits, tails * (ASSUMED.logWriteUnits - 1)) + per(p.readUnits, tails * ASSUMED.logReadUnits),
  ],
  ['state transitions', whole(ITEMS * ASSUMED.transitionsPerItem), (p) => per(p.transitions, ITEMS * ASSUMED.transitionsPerItem)],
  [
    'calls of the steps',
    `${whole(steps)}, ${ASSUMED.stepMilliseconds} ms each`,
    (p) => per(p.functionCalls, steps) + ((steps * ASSUMED.stepMilliseconds) / 1000) * memoryGb('wave-plan') * p.functionTime,
  ],
  [
    'log of steps and state machines',
    `${whole((ITEMS * ASSUMED.itemLogBytes) / 1024 ** 2)} MiB`,
    (p) => ((ITEMS * ASSUMED.itemLogBytes) / GB) * p.logs,
  ],
];

const fixed: Line[] = [
  [
    'the tick',
    `${whole(MINUTES_A_MONTH)} calls, ${ASSUMED.tickMilliseconds / 1000} s each`,
    (p) =>
      per(p.schedules + p.functionCalls, MINUTES_A_MONTH) +
      MINUTES_A_MONTH * (ASSUMED.tickMilliseconds / 1000) * memoryGb('tick') * p.functionTime +
      per(p.readUnits, MINUTES_A_MONTH * ASSUMED.tickReads) +
      ((MINUTES_A_MONTH * ASSUMED.tickLogBytes) / GB) * p.logs,
  ],
  ['metrics of the program', String(Object.keys(METRICS).length), (p) => Object.keys(METRICS).length * p.metric],
  ['metrics under alarms', String(COUNTED.alarmMetrics), (p) => COUNTED.alarmMetrics * p.alarmMetric],
  ['dashboard', '1', (p) => p.dashboard],
  ['keys of KMS', String(ASSUMED.keys), (p) => ASSUMED.keys * p.key],
];

const dollars = (lines: readonly Line[], p: Prices): number => lines.reduce((sum, [, , of]) => sum + of(p), 0);
const shown = (amount: number): string => `$${amount.toFixed(amount < 1 ? 4 : 2)}`;

function lines(of: readonly Line[]): string {
  const rows = of.map(([what, amount, cost]) => [what, amount, ...REGIONS.map((region) => shown(cost(PRICES[region])))]);
  const total = ['**together**', '', ...REGIONS.map((region) => `**${shown(dollars(of, PRICES[region]))}**`)];
  return table(['what', 'how much', ...REGIONS], [...rows, total]);
}

function fleets(): string {
  const rows = [100, 1_000, 10_000].map((clusters) => {
    const month = (p: Prices): number => dollars(fixed, p) + clusters * dollars(cluster, p) + (clusters / ITEMS) * dollars(items, p);
    return [whole(clusters), ...REGIONS.map((region) => `$${whole(month(PRICES[region]))}`)];
  });
  return table(['clusters', ...REGIONS], rows);
}

const assumed = (): string =>
  table(
    ['assumed', 'value'],
    Object.entries(ASSUMED).map(([name, value]) => [name.replaceAll(/([A-Z])/g, (c) => ` ${c.toLowerCase()}`), String(value)]),
  );

export const costPage = (): string => `# What it costs

US dollars at list prices known on ${PRICED_ON}, without taxes, discounts and free tiers; before a decision look the prices up again (AWS Pricing Calculator). Capacity
units are counted by tests and stand in [benchmarks](benchmarks.md); what no test counts is assumed, rather too much than too little, and listed below. This page is made by \`npm run gen\` from
[scripts/docs/cost.ts](../scripts/docs/cost.ts).

## A month

The whole for a fleet that reports each minute and gets one new version a month:

${fleets()}
A heartbeat is most of it. Agents that report half as often (\`AGENT_REPORT_INTERVAL_SECONDS\`) cost half; what silence means follows from that number, too.

## One cluster and month

One report a minute, whether anything rolls out or not.

${lines(cluster)}
## 1,000 items

One attempt each. A further attempt costs about as much again.

${lines(items)}
## Whether anything happens or not

${lines(fixed)}
Storage comes to ${REGIONS.map((region) => `$${PRICES[region].storage.toFixed(2)} per GB and month in ${region}`).join(', ')} with point-in-time recovery; a cluster with its history of 90 days is tens of KB.

## What is assumed

${assumed()}`;
