import type { Instant } from '../../lib/domain/shared/time.ts';
import { type Held, heldWords } from './words.ts';

/** What the progress view shows, as lines; drawing and asking are done elsewhere. */

export interface WaveLine {
  readonly id: string;
  readonly title: string;
  readonly status: string;
  readonly counters: Counters;
  readonly failure_rate: number;
  readonly held: readonly Held[];
  /** Names of the clusters (or workspaces) that are being worked on, some of them. */
  readonly running: readonly string[];
}

export interface Counters {
  readonly total: number;
  readonly done: number;
  readonly in_progress: number;
  readonly pending: number;
  readonly failed: number;
  readonly skipped: number;
}

export interface View {
  readonly now: Instant;
  readonly address: string;
  readonly clusters: number;
  readonly desired_version: string | null;
  readonly waves: readonly WaveLine[];
  readonly histogram: readonly { readonly version: string | null; readonly count: number }[];
  /** Newest last. */
  readonly events: readonly string[];
}

export type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow' | 'cyan';
export type Paint = (style: Style, text: string) => string;
const CODES: Readonly<Record<Style, number>> = { bold: 1, dim: 2, green: 32, red: 31, yellow: 33, cyan: 36 };

export const plain: Paint = (_style, text) => text;
export const coloured: Paint = (style, text) => `\u001b[${CODES[style]}m${text}\u001b[0m`;

/** SPEC §3.3: the sum as people check it. */
export function sumWords(c: Counters): string {
  return `Total ${c.total} = ${c.done} Done + ${c.in_progress} In Progress + ${c.pending} Pending + ${c.failed} Failed + ${c.skipped} Skipped`;
}

/** Ended in any way, of all. */
export const share = (c: Counters): number => (c.total === 0 ? 1 : (c.done + c.failed + c.skipped) / c.total);

const percent = (c: Counters): string => `${Math.floor(share(c) * 100)} %`;

export function bar(c: Counters, width: number, paint: Paint): string {
  const cells = (n: number): number => (c.total === 0 ? 0 : Math.floor((n / c.total) * width));
  const [done, failed, skipped, running] = [cells(c.done), cells(c.failed), cells(c.skipped), cells(c.in_progress)];
  const rest = Math.max(0, width - done - failed - skipped - running);
  return (
    paint('green', '█'.repeat(done)) +
    paint('red', '█'.repeat(failed)) +
    paint('dim', '█'.repeat(skipped)) +
    paint('cyan', '▒'.repeat(running)) +
    paint('dim', '·'.repeat(rest))
  );
}

const STATUS_STYLE: Readonly<Record<string, Style>> = {
  active: 'cyan',
  completed: 'green',
  blocked: 'red',
  paused: 'yellow',
  cancelled: 'dim',
};

const heldLine = (wave: WaveLine, now: Instant): string => wave.held.map((held) => heldWords(held, now)).join('; ');

const blockedWords = (wave: WaveLine): string =>
  wave.status === 'blocked' ? ` (${Math.round(wave.failure_rate * 10) / 10} % failed)` : '';

/** Without a terminal: one line per wave, whole. */
export function plainLine(wave: WaveLine, now: Instant): string {
  const held = heldLine(wave, now);
  return `${wave.title}  ${wave.status}${blockedWords(wave)}  ${percent(wave.counters)}  ${sumWords(wave.counters)}${held === '' ? '' : `  | ${held}`}`;
}

const MAX_EVENTS = 6;
const MAX_WAVES = 12;

/** The whole picture, each line cut to the width. */
export function frame(view: View, width: number, paint: Paint): string[] {
  const lines = [
    `${paint('bold', 'Block Rollout')}  ${view.clusters} clusters${view.desired_version === null ? '' : `, operator to ${view.desired_version}`}  ${paint('dim', view.address)}`,
    '',
    ...waveLines(view, width, paint),
    ...versionLine(view, paint),
    ...view.events.slice(-MAX_EVENTS).map((event) => paint('dim', event)),
    '',
    paint('dim', 'Ctrl-C stops; nothing is lost, the next npm start goes on here.'),
  ];
  return lines.map((line) => cut(line, width));
}

function waveLines(view: View, width: number, paint: Paint): string[] {
  if (view.waves.length === 0) return ['No wave yet: every target is up to date, or the fleet is still being looked at.', ''];
  const shown = view.waves.slice(0, MAX_WAVES);
  const more = view.waves.length - shown.length;
  return [
    ...shown.flatMap((wave) => waveBlock(wave, view.now, width, paint)),
    ...(more > 0 ? [paint('dim', `… and ${more} older waves`), ''] : []),
  ];
}

function waveBlock(wave: WaveLine, now: Instant, width: number, paint: Paint): string[] {
  const size = Math.max(10, Math.min(30, width - 90));
  const title = `${paint('bold', wave.title)}  ${paint(STATUS_STYLE[wave.status] ?? 'dim', wave.status)}${blockedWords(wave)}`;
  const held = heldLine(wave, now);
  return [
    title,
    `  ${bar(wave.counters, size, paint)} ${percent(wave.counters).padStart(5)}  ${sumWords(wave.counters)}`,
    ...(held === '' ? [] : [`  ${paint('yellow', held)}`]),
    ...(wave.running.length === 0 ? [] : [`  running: ${wave.running.join(', ')}`]),
    '',
  ];
}

function versionLine(view: View, paint: Paint): string[] {
  if (view.histogram.length === 0) return [];
  const versions = view.histogram.map(({ version, count }) => `${count} × ${version ?? 'unknown'}`);
  return [`${paint('bold', 'Versions')}  ${versions.join('  ')}`, ''];
}

const ESCAPE = String.fromCharCode(27);
const PIECES = new RegExp(`${ESCAPE}\\[\\d+m|.`, 'gsu');

/** At most so many columns; colours take none, and what is cut off is marked. */
export function cut(line: string, width: number): string {
  const pieces = line.match(PIECES) ?? [];
  const isColour = (piece: string): boolean => piece.startsWith(ESCAPE);
  if (pieces.filter((piece) => !isColour(piece)).length <= width) return line;
  let room = width - 1;
  const kept = pieces.filter((piece) => isColour(piece) || room-- > 0);
  const coloured_ = kept.some(isColour);
  return `${kept.join('')}…${coloured_ ? `${ESCAPE}[0m` : ''}`;
}
