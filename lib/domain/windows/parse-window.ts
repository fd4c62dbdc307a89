import { timeZoneProblem } from '../recurrence/zone.ts';
import { freezeSpan, parseEdge } from './freezes.ts';
import { type Freeze, type MaintenanceWindow, SLOT_DAYS, type SlotDay, type TimeSlot } from './window.ts';

export interface WindowProblem {
  /** Where in the window, e.g. `time_slots[0].start`; empty for the window as a whole. */
  readonly path: string;
  /** `required` when it is left out, `null` when it must not be; else `invalid`. */
  readonly code: 'required' | 'null' | 'invalid';
  readonly reason: string;
}

export type ParsedWindow =
  | { readonly ok: true; readonly window: MaintenanceWindow }
  | { readonly ok: false; readonly problems: readonly WindowProblem[] };

type Report = (path: string, reason: string, code?: WindowProblem['code']) => void;
type Fields = Readonly<Record<string, unknown>>;

const MAX_SLOTS = 100;
const MAX_FREEZES = 500;
const ALWAYS = '{start: "00:00", end: "24:00"}';

/** SPEC §4: checked when it is saved, every mistake named; unknown keys are refused, since a misspelled one would be ignored. */
export function parseWindow(json: unknown): ParsedWindow {
  const problems: WindowProblem[] = [];
  const report: Report = (path, reason, code = 'invalid') => problems.push({ path, code, reason });
  const fields = readFields(json, '', ['time_zone', 'time_slots', 'freezes'], report);
  if (fields === null) return { ok: false, problems };
  const zone = readZone(fields['time_zone'], report);
  const slots = readSlots(fields['time_slots'], report);
  const freezes = readFreezes(fields['freezes'], zone, report);
  if (problems.length > 0 || zone === null) return { ok: false, problems };
  return { ok: true, window: { time_zone: zone, time_slots: slots, freezes } };
}

function readFields(value: unknown, path: string, known: readonly string[], report: Report): Fields | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    report(path, `must be an object with ${known.join(', ')}`, codeOf(value));
    return null;
  }
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) report(path === '' ? key : `${path}.${key}`, `is not known here; known are ${known.join(', ')}`);
  }
  return { ...value };
}

const codeOf = (value: unknown): WindowProblem['code'] => (value === undefined ? 'required' : value === null ? 'null' : 'invalid');

function readZone(value: unknown, report: Report): string | null {
  const problem = typeof value === 'string' ? timeZoneProblem(value) : 'must be the name of a time zone, e.g. "Europe/Berlin"';
  if (problem !== null) report('time_zone', problem, codeOf(value));
  return problem === null && typeof value === 'string' ? value : null;
}

function readSlots(value: unknown, report: Report): readonly TimeSlot[] {
  if (!Array.isArray(value))
    report('time_slots', `must be a list of {days, start, end}; for "always open" write [${ALWAYS}]`, codeOf(value));
  else if (value.length === 0) report('time_slots', `is empty, so this window would never open; for "always open" write [${ALWAYS}]`);
  else if (value.length > MAX_SLOTS) report('time_slots', `has ${value.length} slots; at most ${MAX_SLOTS} are allowed`);
  else return value.flatMap((slot, index) => readSlot(slot, `time_slots[${index}]`, report) ?? []);
  return [];
}

function readSlot(value: unknown, path: string, report: Report): TimeSlot | null {
  const fields = readFields(value, path, ['days', 'start', 'end'], report);
  if (fields === null) return null;
  const days = readDays(fields['days'], `${path}.days`, report);
  const start = readTime(fields['start'], `${path}.start`, false, report);
  const end = readTime(fields['end'], `${path}.end`, true, report);
  if (start === null || end === null) return null;
  if (start === end) {
    report(`${path}.end`, `is the same as start, so the slot would never open; for a whole day write ${ALWAYS}`);
    return null;
  }
  return days === null ? { start, end } : { days, start, end };
}

/** null = left out. Written back in the order of the week and without doubles. */
function readDays(value: unknown, path: string, report: Report): readonly SlotDay[] | null {
  if (value === undefined || value === null) return null;
  const allowed = `use ${SLOT_DAYS.join(', ')}; leave it out for every day`;
  if (!Array.isArray(value)) report(path, `must be a list; ${allowed}`);
  else if (value.length === 0) report(path, `is empty, so the slot would never open; ${allowed}`);
  else {
    const named = value.map((day) => (typeof day === 'string' ? day.toLowerCase() : day));
    const unknown = named.findIndex((day) => !isSlotDay(day));
    if (unknown >= 0) report(`${path}[${unknown}]`, `${JSON.stringify(value[unknown])} is not a day; ${allowed}`);
    return SLOT_DAYS.filter((day) => named.includes(day));
  }
  return [];
}

function isSlotDay(value: unknown): boolean {
  return SLOT_DAYS.some((day) => day === value);
}

function readTime(value: unknown, path: string, isEnd: boolean, report: Report): string | null {
  if (typeof value === 'string' && (/^([01]\d|2[0-3]):[0-5]\d$/.test(value) || (isEnd && value === '24:00'))) return value;
  const range = isEnd ? '00:00 to 24:00' : '00:00 to 23:59';
  const quotes = typeof value === 'number' ? ' (in YAML put the time in quotes)' : '';
  report(path, `must be a time HH:MM from ${range}, such as "04:00"${quotes}`, codeOf(value));
  return null;
}

function readFreezes(value: unknown, zone: string | null, report: Report): readonly Freeze[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) report('freezes', 'must be a list of {from, to, reason}');
  else if (value.length > MAX_FREEZES) report('freezes', `has ${value.length} freezes; at most ${MAX_FREEZES} are allowed`);
  else return value.flatMap((freeze, index) => readFreeze(freeze, `freezes[${index}]`, zone, report) ?? []);
  return [];
}

function readFreeze(value: unknown, path: string, zone: string | null, report: Report): Freeze | null {
  const fields = readFields(value, path, ['from', 'to', 'reason'], report);
  if (fields === null) return null;
  const from = readEdge(fields['from'], `${path}.from`, report);
  const to = readEdge(fields['to'], `${path}.to`, report);
  const reason = fields['reason'] ?? null;
  if (reason !== null && (typeof reason !== 'string' || reason.length > 1_024)) {
    report(`${path}.reason`, 'must be text of at most 1024 characters');
    return null;
  }
  if (from === null || to === null) return null;
  const freeze: Freeze = { from, to, reason };
  const span = zone === null ? null : freezeSpan(freeze, zone);
  if (span !== null && span.until <= span.from) report(`${path}.to`, `${to} is not after from (${from}), so nothing would be frozen`);
  return freeze;
}

function readEdge(value: unknown, path: string, report: Report): string | null {
  if (typeof value === 'string' && parseEdge(value) !== null) return value;
  report(path, 'must be a date such as "2026-12-20" (the whole day) or an instant such as "2026-12-20T18:00:00Z"', codeOf(value));
  return null;
}
