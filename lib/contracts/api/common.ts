import * as z from 'zod';

/** Wire formats that every resource uses. Requests read times into epoch milliseconds; answers write ISO 8601 UTC. */

/** An id of ours: UUID v7 in lower case. */
export const id = z.uuid().meta({ id: 'Id' });

/** An id in a request; upper case is accepted. */
export const idIn = z.uuid({ error: 'must be an id (UUID)' }).toLowerCase();

/** A point in time in a request: ISO 8601 with an offset; becomes epoch milliseconds. */
export const instantIn = z.iso
  .datetime({ offset: true, error: 'must be a date and time with an offset, e.g. 2026-03-01T22:00:00Z' })
  .transform((text) => Date.parse(text))
  // An offset can carry a time of these years out of them, where answers could not write it.
  .refine((at) => at >= Date.parse('0000-01-01T00:00:00.000Z') && at <= Date.parse('9999-12-31T23:59:59.999Z'), {
    error: 'must lie in the years 0000 to 9999 in UTC; leave room for the offset',
  });

/** A point in time in an answer: ISO 8601 UTC. */
export const instantOut = z.iso.datetime();

export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };
export const jsonValue: z.ZodType<JsonValue> = z.json();
export const jsonObject = z.record(z.string(), jsonValue);

const CONTROL = /\p{Cc}|\p{Zl}|\p{Zp}|\p{Cs}/u;

/** SPEC §1 "Names": 1–253 printable characters, NFC, no control characters, no outer blanks. Null when it is one. */
export function nameProblem(text: string): string | null {
  const length = [...text].length;
  if (length < 1 || length > 253) return 'must have 1 to 253 characters';
  if (CONTROL.test(text)) return 'must not contain control characters or line breaks';
  if (text.trim() !== text) return 'must not begin or end with a blank';
  if (text.normalize('NFC') !== text) return 'must be Unicode in the composed form (NFC)';
  return null;
}

export const name = z
  .string()
  .check((ctx) => {
    const problem = nameProblem(ctx.value);
    if (problem !== null) ctx.issues.push({ code: 'custom', message: problem, input: ctx.value });
  })
  .meta({ id: 'Name', minLength: 1, maxLength: 253 });

export const displayName = z.string().min(1).max(253);

/** SPEC §1 "Labels": text → any text of at most 1 KiB. */
const labelText = z
  .string()
  .max(1024, 'must be at most 1 KiB')
  .refine((text) => new TextEncoder().encode(text).length <= 1024, 'must be at most 1 KiB');
export const labels = z.record(z.string().min(1, 'a label key must not be empty').max(317), labelText).meta({ id: 'Labels' });

/** A text without length of meaning, e.g. a reason that a person gives. */
export const reason = z.string().min(1).max(500);

export const versionText = z.string().min(1, 'must not be empty').max(100);

export const criticality = z.enum(['high', 'medium', 'low']);
export const componentName = z.enum(['cli', 'operator', 'api']);
export const appState = z.enum(['OK', 'WARNING', 'CRITICAL']);
export const waveStatus = z.enum(['active', 'paused', 'blocked', 'completed', 'cancelled']);
export const itemStatus = z.enum(['pending', 'in_progress', 'completed', 'failed', 'retrying', 'skipped']);
export const runStatus = z.enum(['pending', 'running', 'success', 'failed', 'cancelled']);
export const source = z.enum(['scheduler', 'manual']);

/** Why something does not move, and until when (SPEC §3.8, §5). */
export const blocker = z.object({ code: z.string(), detail: z.string().nullable(), until: instantOut.nullable() }).meta({ id: 'Blocker' });

/** `{reason}` or nothing: pause, skip. */
export const reasonBody = z.strictObject({ reason: reason.nullable().exactOptional() });

/** The public SDK's archive call: with a reason it archives, without a body it brings the object back. */
export const archiveBody = z.strictObject({ archive_reason: reason.nullable().exactOptional() });
export const archiveAnswer = z.object({ archived: z.boolean() });
/** SPEC §2.8: what is still active under an object is left behind only on purpose. */
export const forceQuery = z.strictObject({
  force: z
    .enum(['true', 'false'])
    .transform((v) => v === 'true')
    .exactOptional(),
});
