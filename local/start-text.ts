import type { Counters } from './terminal/frame.ts';
import { sumWords } from './terminal/frame.ts';
import { countersOf, type Wave, waveTitle } from './terminal/watch.ts';

/** What a person reads when everything is up: where it is and how to sign in. */
export function greeting(facts: {
  readonly baseUrl: string;
  readonly key: string;
  /** Where the key is kept; null = nowhere (`--memory`). */
  readonly keyFile: string | null;
  readonly virtual: boolean;
  readonly agents: string;
}): string {
  const { baseUrl, key, keyFile, virtual, agents } = facts;
  const base = baseUrl.replace(/\/$/, '');
  const keyInShell = keyFile === null ? key : `$(cat ${keyFile})`;
  return [
    'Block Rollout is running.',
    `  API         ${base}/api/v1/`,
    `  Sign in     with the administrator key${keyFile === null ? '' : ` (kept in ${keyFile})`}: ${key}`,
    `  Try         curl -H "Authorization: Bearer ${keyInShell}" ${base}/api/v1/operator-rollout/`,
    `  Agents      ${agents}`,
    ...(virtual ? [`  Clock       moves only through POST ${base}/local/clock, e.g. {"advance_seconds": 60}`] : []),
    '',
  ].join('\n');
}

/** The last lines of `--exit-when-done`. */
export function summary(waves: readonly Wave[]): string {
  if (waves.length === 0) return 'Nothing to do: no wave was needed.';
  const lines = waves.map((wave) => `${waveTitle(wave)}  ${wave.status}  ${sumWords(countersOf(wave))}`);
  const blocked = waves.filter((wave) => wave.status === 'blocked').length;
  const verdict =
    blocked === 0
      ? 'Done: nothing moves any more.'
      : `Blocked: ${blocked === 1 ? 'a wave has' : `${blocked} waves have`} more failures than allowed.`;
  return ['', ...lines, ...(waves.length > 1 ? [`all waves  ${sumWords(sumOf(waves.map(countersOf)))}`] : []), verdict].join('\n');
}

export function sumOf(all: readonly Counters[]): Counters {
  const total = { total: 0, done: 0, in_progress: 0, pending: 0, failed: 0, skipped: 0 };
  for (const counters of all) for (const key of Object.keys(total) as (keyof Counters)[]) total[key] += counters[key];
  return total;
}
