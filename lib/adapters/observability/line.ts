import { LOG_FIELDS, type LogFields } from '../../contracts/telemetry/log-events.ts';

const FIELDS: ReadonlySet<string> = new Set(LOG_FIELDS);
const MOST_CHARACTERS = 2_000;

/** What may stand in a text only by mistake: keys, Authorization headers, and unbroken texts as long as a task token. */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/\bbr[ak]_[0-9a-f]{13,}\w*/gi, '[key]'],
  [/\b(bearer|basic)\s+[^\s"',;]+/gi, '$1 [key]'],
  [/AWS4-HMAC-SHA256[^\n"]*/g, '[signature]'],
  [/[A-Za-z0-9+/=_-]{100,}/g, '[token]'],
];

const masked = (text: string): string => SECRETS.reduce((t, [secret, name]) => t.replaceAll(secret, name), text).slice(0, MOST_CHARACTERS);

/**
 * The one place between the program and its log: only fields of the list get into a line, and what looks like a secret inside a text (an
 * error's words, say) is masked. Null and empty are left out.
 */
export function fieldsOf(fields: LogFields): Record<string, unknown> {
  const known = Object.entries(fields).filter(([name, value]) => FIELDS.has(name) && value != null && value !== '');
  return Object.fromEntries(known.map(([name, value]) => [name, typeof value === 'string' ? masked(value) : value]));
}
