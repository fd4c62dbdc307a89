import { localDate } from '../../lib/domain/recurrence/local-text.ts';
import type { Blocker } from '../../lib/domain/shared/rollout.ts';
import { DAY, HOUR, type Instant, MINUTE, type Millis, SECOND, YEAR } from '../../lib/domain/shared/time.ts';

/** Words of the progress view: what a tired person reads at night. */

/** `45 s`, `3 min 20 s`, `3 h 12 min`, `2 d 4 h`. */
export function durationWords(length: Millis): string {
  const rest = Math.max(0, Math.ceil(length / SECOND) * SECOND);
  const part = (unit: Millis, of: Millis = Number.POSITIVE_INFINITY): number => Math.floor((rest % of) / unit);
  const two = (large: string, small: number, unit: string): string => (small === 0 ? large : `${large} ${small} ${unit}`);
  if (rest < MINUTE) return `${part(SECOND)} s`;
  if (rest < 10 * MINUTE) return two(`${part(MINUTE)} min`, part(SECOND, MINUTE), 's');
  if (rest < HOUR) return `${part(MINUTE)} min`;
  if (rest < DAY) return two(`${part(HOUR)} h`, part(MINUTE, HOUR), 'min');
  return two(`${part(DAY)} d`, part(HOUR, DAY), 'h');
}

/** ` in 58 s`, beyond a year ` on 2030-12-31`, or nothing when nobody knows. */
export const inWords = (until: Instant | null, now: Instant): string => waitWords(until, now, 'in', 'on');

const forWords = (until: Instant | null, now: Instant): string => waitWords(until, now, 'for', 'until');

function waitWords(until: Instant | null, now: Instant, length: string, date: string): string {
  if (until === null) return '';
  return until - now > YEAR ? ` ${date} ${localDate(until, 'UTC')}` : ` ${length} ${durationWords(until - now)}`;
}

export interface Held {
  readonly code: string;
  readonly count: number;
  readonly detail: string | null;
  /** The earliest of them. */
  readonly until: Instant | null;
}

/** Waiting items by what holds each first; those that no blocker holds are about to start. */
export function heldBy(items: readonly { readonly blockers: readonly Pick<Blocker, 'code' | 'detail' | 'until'>[] }[]): Held[] {
  const groups = new Map<string, Held>();
  for (const { blockers } of items) {
    const first = blockers.find(({ code }) => code !== 'contact_missing');
    const code = first?.code ?? 'starting';
    const before = groups.get(code);
    const count = (before?.count ?? 0) + 1;
    // The detail is that of the earliest: windows in several zones open one after the other.
    const { detail, until } = before === undefined || isSooner(first, before) ? { detail: null, until: null, ...first } : before;
    groups.set(code, { code, count, detail, until });
  }
  return [...groups.values()].sort((a, b) => b.count - a.count || a.code.localeCompare(b.code));
}

type Until = Pick<Held, 'until'>;

const isSooner = (a: Until | undefined, b: Until): boolean =>
  a !== undefined && a.until !== null && (b.until === null || a.until < b.until);

const WAITS: Readonly<Record<string, (one: boolean, held: Held, now: Instant) => string>> = {
  platform_paused: (_one, { detail }) => `everything is paused${because(detail)}`,
  cluster_paused: (one, { until }, now) => `${one ? 'is' : 'are'} on a paused cluster${forWords(until, now)}`,
  wave_paused: (one) => `${one ? 'waits' : 'wait'} because the wave is paused`,
  wave_blocked: (one) => `${one ? 'waits' : 'wait'} because the wave is blocked: too many failed`,
  wave_cancelled: (one) => `${one ? 'belongs' : 'belong'} to a cancelled wave`,
  canary_review: (one) => `${one ? 'waits' : 'wait'} for a person to look at the first batch and resume`,
  agent_missing: (one, { detail }) => `${one ? 'waits' : 'wait'} for an agent that has never reported${missingAgent(detail)}`,
  agent_silent: (one) => `${one ? 'waits for a silent agent' : 'wait for silent agents'}`,
  cluster_critical: (one) => `${one ? 'waits for a cluster that is' : 'wait for clusters that are'} CRITICAL`,
  window_closed: (one, { until, detail }, now) =>
    `${one ? 'waits' : 'wait'} for the maintenance window${until === null ? '' : `, opens${inWords(until, now)}`}${inParentheses(detail)}`,
  freeze: (one, { until, detail }, now) =>
    `${one ? 'is' : 'are'} frozen${until === null ? '' : `, ${one ? 'opens' : 'open'}${inWords(until, now)}`}${inParentheses(detail)}`,
  canary_gate: (one, { detail }) => `${one ? 'waits' : 'wait'} for a free place${inParentheses(detail)}`,
  no_free_slot: (one, { detail }) => `${one ? 'waits' : 'wait'} for a free slot${inParentheses(detail)}`,
  retry_backoff: (one, { until }, now) => `${one ? 'tries' : 'try'} again${inWords(until, now)}`,
  enqueue_running: (one) => `${one ? 'waits' : 'wait'} until all targets are looked at`,
  starting: (one) => `${one ? 'is' : 'are'} about to start`,
};

const because = (detail: string | null): string => (detail === null || detail === '' ? '' : `: ${detail}`);
const inParentheses = (detail: string | null): string => (detail === null || detail === '' ? '' : ` (${detail})`);

function missingAgent(detail: string | null): string {
  if (detail === 'no_agent_token') return ' (the cluster has no agent key)';
  return detail === 'operator_config_missing' ? ' (it has a key)' : inParentheses(detail);
}

/** `2 wait for silent agents`. */
export function heldWords(held: Held, now: Instant): string {
  const words =
    WAITS[held.code] ?? ((one: boolean) => `${one ? 'is' : 'are'} held: ${held.code.replaceAll('_', ' ')}${inParentheses(held.detail)}`);
  return `${held.count} ${words(held.count === 1, held, now)}`;
}
