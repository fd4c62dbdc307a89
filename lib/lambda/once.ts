import type { CallContext, Telemetry } from '../adapters/observability/telemetry.ts';

export type Handler = (event: unknown, context: never) => Promise<unknown>;

/**
 * A Lambda entry point: what it works with is built at the first call and kept as long as the process lives, with its connections. When that fails,
 * each call says why and tries anew.
 */
export function once(make: () => Handler): Handler {
  let handler: Handler | null = null;
  return async (event, context) => {
    handler ??= make();
    return handler(event, context);
  };
}

/** Lines of a call name it, and its numbers go out at its end; the same on Lambda and in the embedded runtime. */
export const observed =
  (telemetry: Pick<Telemetry, 'call'>, handler: Handler): Handler =>
  (event, context) =>
    telemetry.call(context as CallContext, () => handler(event, context));
