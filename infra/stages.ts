import { RemovalPolicy } from 'aws-cdk-lib';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';

/** Requests of one second on average, and at once. */
export interface Throttle {
  readonly rate: number;
  readonly burst: number;
}

/** Everything in which one deployment differs from another. */
export interface StageSettings {
  readonly name: string;
  /** Table and key outlive their stack, and neither can be deleted by mistake. */
  readonly keepData: boolean;
  readonly logRetention: RetentionDays;
  readonly logLevel: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';
  /** People's calls and, apart from them, heartbeats and runs of agents. */
  readonly apiThrottle: Throttle;
  readonly agentThrottle: Throttle;
  /**
   * Processes kept for agents, and the most they may take from everybody else (DESIGN §6). null = none: an account with the initial limit of 10
   * at once refuses any reservation.
   */
  readonly agentConcurrency: number | null;
  /** Alarms that calculate with several metrics; MiniStack refuses them, so where it may run they are left out. */
  readonly calculatedAlarms: boolean;
}

const dev: StageSettings = {
  name: 'dev',
  keepData: false,
  logRetention: RetentionDays.ONE_WEEK,
  logLevel: 'DEBUG',
  apiThrottle: { rate: 100, burst: 200 },
  agentThrottle: { rate: 500, burst: 1_000 },
  agentConcurrency: null,
  calculatedAlarms: true,
};

/** 5,000 agents that report every 30 s are 170 calls a second; each takes a few hundredths of a second. */
const prod: StageSettings = {
  name: 'prod',
  keepData: true,
  logRetention: RetentionDays.THREE_MONTHS,
  logLevel: 'INFO',
  apiThrottle: { rate: 200, burst: 400 },
  agentThrottle: { rate: 2_000, burst: 4_000 },
  agentConcurrency: 100,
  calculatedAlarms: true,
};

/** LocalStack, MiniStack: nothing there is worth keeping, and nothing is reserved. */
const local: StageSettings = { ...dev, name: 'local', calculatedAlarms: false };

export const STAGES = { dev, prod, local } as const;

/** @throws when there is no such stage; the message names those that there are. */
export function stageNamed(name: string): StageSettings {
  const stage = Object.values(STAGES).find((s) => s.name === name);
  if (stage === undefined) throw new Error(`There is no stage "${name}". STAGE may be ${Object.keys(STAGES).join(', ')}.`);
  return stage;
}

/** What happens to a resource that holds data when it leaves the template. */
export const removalOf = (stage: StageSettings): RemovalPolicy => (stage.keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY);
