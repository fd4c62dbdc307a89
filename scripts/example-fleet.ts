/**
 * Prints a fleet file of any size: `npm run example:fleet -- --clusters 2000 --seed 1`. The same numbers give the same file.
 */
import { Command, InvalidArgumentError } from 'commander';

interface Options {
  readonly clusters: number;
  readonly seed: number;
  readonly percentage: number;
  readonly target: string;
  readonly instant: boolean;
}

const REGIONS = ['fra', 'ams', 'ham', 'muc', 'ber', 'waw', 'vie', 'osl', 'sto', 'par'];
const OLDER = ['0.33.1', '0.33.1', '0.33.1', '0.33.0', '0.32.0', '0.31.2'];
const CRITICALITIES = ['high', 'medium', 'medium', 'low'];
const ENVIRONMENTS = ['prod', 'staging', 'test'] as const;

/** A small seeded generator (mulberry32): answers numbers from 0 to 1. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Agents of a big fleet report less often, so that one machine can play them all. */
function intervals(clusters: number): string[] {
  const report = Math.max(2, Math.ceil(clusters / 500));
  return [
    `  AGENT_REPORT_INTERVAL_SECONDS: ${report}`,
    `  AGENT_WARNING_AFTER_SECONDS: ${Math.max(15, report * 5)}`,
    `  AGENT_CRITICAL_AFTER_SECONDS: ${Math.max(30, report * 10)}`,
  ];
}

export function exampleFleet(options: Options): string {
  const random = seeded(options.seed);
  const pick = <T>(list: readonly [T, ...T[]] | readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const lines = [
    `# ${options.clusters} clusters, made by: npm run example:fleet -- --clusters ${options.clusters} --seed ${options.seed}${options.instant ? ' --instant' : ''}`,
    'apiVersion: block-rollout/v1',
    'system_config:',
    `  OPERATOR_BLOCK_VERSION: ${options.target}`,
    `  OPERATOR_ROLLOUT_PERCENTAGE: ${options.percentage}`,
    ...intervals(options.clusters),
    'organizations:',
  ];
  const silent: string[] = [];
  let made = 0;
  for (let org = 1; made < options.clusters; org += 1) {
    lines.push(
      `  - name: org-${org}`,
      `    criticality: ${pick(CRITICALITIES)}`,
      `    contacts: [ops@org-${org}.example]`,
      '    workspaces:',
    );
    for (const env of ENVIRONMENTS) {
      if (made >= options.clusters) break;
      const size = Math.min(1 + Math.floor(random() * (env === 'prod' ? 60 : 12)), options.clusters - made);
      lines.push(`      - name: org-${org}-${env}`, `        labels: {env: ${env}}`, '        clusters:');
      for (let n = 1; n <= size; n += 1, made += 1) {
        const name = `${pick(REGIONS)}-${n}`;
        lines.push(...cluster(name, options, random, pick));
        if (!options.instant && random() < 0.005) silent.push(`org-${org}/org-${org}-${env}/${name}`);
      }
    }
  }
  return `${[...lines, 'rollout_configs:', '  - {name: defaults, retry_base_seconds: 5}', ...simulation(options, silent)].join('\n')}\n`;
}

function cluster(name: string, options: Options, random: () => number, pick: (list: readonly string[]) => string): string[] {
  const draw = options.instant ? 1 : random();
  const version = draw < 0.1 ? options.target : draw < 0.12 ? 'null' : pick(OLDER);
  const broken = !options.instant && random() < 0.01;
  const lines = [`          - name: ${name}`, `            labels: {region: ${name.slice(0, 3)}${broken ? ', broken: always' : ''}}`];
  if (draw >= 0.12 && draw < 0.13) return lines; // has no operator yet
  lines.push(`            apps: [{name: polycrate-operator, installed_version: ${version}}]`);
  if (draw >= 0.13 && draw < 0.15) {
    lines.push(`            blocks: [{name: ayedo/k8s/polycrate-operator, installed_version: ${version}, created_by_component: cli}]`);
  }
  return lines;
}

function simulation(options: Options, silent: readonly string[]): string[] {
  const head = ['simulation:', `  seed: ${options.seed}`];
  if (options.instant) return [...head, '  default: {seconds: [0, 0], fail: 0, silent: false}'];
  return [
    ...head,
    '  default: {seconds: [1, 4], fail: 0, silent: false}',
    '  rules:',
    '    - {match: "env=staging", fail: 0.1}',
    '    - {match: "broken=always", fail: always}',
    ...silent.map((name) => `    - {cluster: ${name}, silent: true}`),
  ];
}

function whole(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max)
      throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
    return value;
  };
}

function main(): void {
  const program = new Command('example-fleet')
    .description('Prints a fleet file of any size; the same numbers give the same file.')
    .option('--clusters <n>', 'how many clusters', whole(1, 200_000), 30)
    .option('--seed <n>', 'another seed gives another fleet', whole(0, 2 ** 32 - 1), 1)
    .option('--percentage <n>', 'OPERATOR_ROLLOUT_PERCENTAGE', whole(0, 100), 20)
    .option('--target <version>', 'OPERATOR_BLOCK_VERSION', '0.34.0')
    .option('--instant', 'for measuring: agents that work at once and never fail, every cluster out of date', false)
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
    .parse();
  process.stdout.write(exampleFleet(program.opts<Options>()));
}

// Not `import.meta.main`, which the Node of macOS does not have yet.
if (process.argv[1] === import.meta.filename) main();
