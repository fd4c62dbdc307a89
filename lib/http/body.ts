import { gunzipSync } from 'node:zlib';
import { MEGABYTE } from '../contracts/api/route.ts';
import type { HttpEvent } from './event.ts';
import { refuse } from './failure.ts';

export const DEFAULT_MAX_BYTES = MEGABYTE;

const tooLarge = (limit: number) =>
  refuse(413, 'too_large', `The body is larger than the ${Math.round(limit / MEGABYTE)} MB that this operation takes.`);
const unreadable = (why: string) => refuse(400, 'parse_error', why);

/** The body as it was sent, within the limit; null when there is none. */
export function rawBody(event: HttpEvent, limit: number): Buffer | null {
  if (event.body === undefined || event.body === '') return null;
  const bytes = Buffer.from(event.body, event.isBase64Encoded === true ? 'base64' : 'utf8');
  if (bytes.length > limit) throw tooLarge(limit);
  return bytes;
}

/** The JSON of the body; an absent body reads as an empty object, so that verbs can be POSTed without one. */
export function jsonBody(event: HttpEvent, limit: number): unknown {
  const text = textBody(event, limit);
  if (text === null) return {};
  refuseOtherMedia(event.headers['content-type']);
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw unreadable(`The body is not JSON: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

/** The limit holds for what is sent and for what it unpacks to. */
function textBody(event: HttpEvent, limit: number): string | null {
  const encoding = event.headers['content-encoding'];
  if (encoding === undefined || encoding === 'identity') {
    if (event.isBase64Encoded === true) return rawBody(event, limit)?.toString('utf8') ?? null;
    if (event.body === undefined || event.body === '') return null;
    if (event.body.length > limit || Buffer.byteLength(event.body) > limit) throw tooLarge(limit);
    return event.body;
  }
  if (encoding !== 'gzip')
    throw refuse(415, 'unsupported_media_type', `Content-Encoding "${encoding.slice(0, 50)}" is not understood; use gzip or none.`);
  const packed = rawBody(event, limit);
  return packed === null ? null : unpacked(packed, limit);
}

function unpacked(packed: Buffer, limit: number): string {
  try {
    return gunzipSync(packed, { maxOutputLength: limit }).toString('utf8');
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(limit);
    throw unreadable('The body is marked as gzip, but the data is damaged; pack it again.');
  }
}

function refuseOtherMedia(type: string | undefined): void {
  if (type === undefined || /^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(type)) return;
  throw refuse(
    415,
    'unsupported_media_type',
    `Content-Type "${type.slice(0, 100)}" is not understood here; send JSON with Content-Type: application/json.`,
  );
}

/** Query parameters: a text, or a list of texts when one is given several times. */
export function queryOf(event: HttpEvent): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = {};
  if (event.rawQueryString === undefined || event.rawQueryString === '') return query;
  for (const [name, value] of new URLSearchParams(event.rawQueryString)) {
    const before = Object.hasOwn(query, name) ? query[name] : undefined;
    const after = before === undefined ? value : [before, value].flat();
    Object.defineProperty(query, name, { value: after, enumerable: true, configurable: true, writable: true });
  }
  return query;
}
