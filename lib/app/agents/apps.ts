import { hash } from 'node:crypto';
import { type AppState, OPERATOR_APP } from '../../domain/shared/fleet.ts';
import type { ReportedApp } from './presence.ts';

/**
 * Reported apps as one short text, equal exactly when the reports are equal. A list that would not fit beside the rest into 1 KB is kept as a
 * digest; the operator's own line stays readable, for the histogram.
 */
const MOST_CHARACTERS = 500;
const LETTER: Readonly<Record<AppState, string>> = { OK: 'O', WARNING: 'W', CRITICAL: 'C' };
const STATE: Readonly<Record<string, AppState>> = { O: 'OK', W: 'WARNING', C: 'CRITICAL' };

const line = (app: ReportedApp): string => `${app.name}\t${app.installed_version ?? ''}\t${app.state === null ? '' : LETTER[app.state]}`;

export function packApps(apps: readonly ReportedApp[]): string {
  const lines = [...new Map(apps.map((app) => [app.name, line(app)]))].sort(([a], [b]) => order(a, b)).map(([, text]) => text);
  const whole = lines.join('\n');
  if (whole.length <= MOST_CHARACTERS) return whole;
  const own = apps.some((app) => app.name === OPERATOR_APP) ? [lines[0]] : [];
  return [...own, `#${hash('sha256', whole, 'base64url')}`].join('\n');
}

/** The operator first, the rest by name. */
const order = (a: string, b: string): number => {
  if (a === b) return 0;
  if (a === OPERATOR_APP) return -1;
  if (b === OPERATOR_APP) return 1;
  return a < b ? -1 : 1;
};

/** The apps of a packed text; `complete: false` when the rest is only a digest. */
export function unpackApps(packed: string): { readonly apps: readonly ReportedApp[]; readonly complete: boolean } {
  const lines = packed === '' ? [] : packed.split('\n');
  const digest = lines.at(-1)?.startsWith('#') === true && !lines.at(-1)?.includes('\t');
  const apps = (digest ? lines.slice(0, -1) : lines).map((text) => {
    const [name = '', version = '', state = ''] = text.split('\t');
    return { name, installed_version: version === '' ? null : version, state: STATE[state] ?? null };
  });
  return { apps, complete: !digest };
}

/** Apps whose report differs from the last one; all of them when the last one is unknown. */
export function changedApps(before: string | null, now: readonly ReportedApp[]): readonly ReportedApp[] {
  if (before === null) return now;
  const known = unpackApps(before);
  if (!known.complete) return now;
  const lines = new Map(known.apps.map((app) => [app.name, line(app)]));
  const gone = known.apps.filter((app) => !now.some((n) => n.name === app.name)).map((app) => ({ ...app, installed_version: null }));
  return [...now.filter((app) => lines.get(app.name) !== line(app)), ...gone];
}
