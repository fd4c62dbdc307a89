import type { Logger } from '../app/ports.ts';
import { type HttpEvent, type HttpResult, requestIdOf, resultOf } from './event.ts';
import { failureReply } from './failure.ts';

/** Answers an error and logs what people have to look at: bugs with their stack, and whatever was not available. */
export function failed(error: unknown, event: HttpEvent, log: Logger): HttpResult {
  const request_id = requestIdOf(event);
  const { known, reply } = failureReply(error, request_id);
  const facts = { request_id, method: event.requestContext.http.method, path: event.rawPath };
  if (!known) log.error('request_failed', { ...facts, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  else if (reply.status >= 500) log.warn('request_refused', { ...facts, status: reply.status, error: String(error) });
  return resultOf(reply, request_id);
}
