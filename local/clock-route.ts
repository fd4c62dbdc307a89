import * as z from 'zod';
import type { ErrorBody } from '../lib/contracts/api/errors.ts';
import type { VirtualClock } from './clock.ts';

/** Moves of more than a hundred years are slips of the pen. */
const MOST_SECONDS = 100 * 366 * 86_400;

const move = z.union([
  z.strictObject({ advance_seconds: z.number().min(0).max(MOST_SECONDS) }),
  z.strictObject({ set: z.iso.datetime({ offset: true }) }),
]);
const EXPECTED = 'Send {"advance_seconds": n} with a number from 0 on, or {"set": "2026-03-01T00:00:00Z"}.';

interface Answer {
  readonly status: number;
  readonly body: { readonly now: string } | ErrorBody;
}

/** `GET` and `POST /local/clock`: answers when everything due up to then has been done. */
export async function clockRoute(clock: VirtualClock, request: { method: string; body: () => Promise<string> }): Promise<Answer> {
  if (request.method === 'GET') return now(clock);
  if (request.method !== 'POST') return refusal(405, 'method_not_allowed', 'Use GET to read the clock and POST to move it.', null);
  const parsed = move.safeParse(parse(await request.body()));
  if (!parsed.success) return refusal(400, 'invalid', EXPECTED, null);
  try {
    if ('set' in parsed.data) await clock.advance(Date.parse(parsed.data.set));
    else await clock.advanceBy(Math.round(parsed.data.advance_seconds * 1_000));
    return now(clock);
  } catch (error) {
    if (error instanceof RangeError) return refusal(400, 'invalid', error.message, 'set');
    throw error;
  }
}

const now = (clock: VirtualClock): Answer => ({ status: 200, body: { now: new Date(clock.now()).toISOString() } });

function refusal(status: number, code: string, detail: string, attr: string | null): Answer {
  return { status, body: { type: status === 400 ? 'validation_error' : 'client_error', errors: [{ code, detail, attr }] } };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
