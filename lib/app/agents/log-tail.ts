import type { RunLog } from '../engine/ports.ts';
import type { Streams } from './calls.ts';

/** SPEC §7: of each stream the last 64 KiB are kept. */
export const LOG_TAIL_BYTES = 64 * 1024;

/** The last 64 KiB of a text in UTF-8, begun at a whole character. */
export function tail(text: string): string {
  // No character takes more bytes in UTF-8 than three per UTF-16 unit, so longer texts need not be encoded whole.
  const bytes = Buffer.from(text.slice(-LOG_TAIL_BYTES), 'utf8');
  if (bytes.length <= LOG_TAIL_BYTES) return bytes.toString('utf8');
  let start = bytes.length - LOG_TAIL_BYTES;
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  return bytes.subarray(start).toString('utf8');
}

/** Replaces values that were given out in a claim (SPEC §7): longest first, so that a value within another one leaves nothing behind. */
export function mask(text: string, secrets: readonly string[]): string {
  return [...secrets]
    .filter((secret) => secret !== '')
    .sort((a, b) => b.length - a.length)
    .reduce((masked, secret) => masked.replaceAll(secret, '***'), text);
}

/** What is kept of a message: a stream that it leaves out stays as it was. Masked before it is cut, so that no half of a value remains. */
export function keptLog(before: RunLog | null, streams: Streams, secrets: readonly string[], at: number): RunLog {
  const kept = (text: string | null, old: string | undefined): string => (text === null ? (old ?? '') : tail(mask(text, secrets)));
  return { stdout: kept(streams.stdout, before?.stdout), stderr: kept(streams.stderr, before?.stderr), at };
}
