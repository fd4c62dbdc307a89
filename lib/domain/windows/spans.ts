import type { Instant } from '../shared/time.ts';

/** A piece of time, from ≤ t < until. */
export interface Span {
  readonly from: Instant;
  readonly until: Instant;
}

/** Sorted, without overlaps, touching ones joined. */
export function joinSpans(spans: readonly Span[]): readonly Span[] {
  const sorted = [...spans].sort((a, b) => a.from - b.from || a.until - b.until);
  const joined: Span[] = [];
  for (const span of sorted) {
    const last = joined.at(-1);
    if (last !== undefined && span.from <= last.until)
      joined[joined.length - 1] = { from: last.from, until: Math.max(last.until, span.until) };
    else joined.push(span);
  }
  return joined;
}

/** Is `t` inside one of the joined spans, and until when does that stay so? null = for ever. */
export function spanState(spans: readonly Span[], t: Instant): { readonly inside: boolean; readonly until: Instant | null } {
  const next = spans.find((span) => t < span.until);
  if (next === undefined) return { inside: false, until: null };
  return t < next.from ? { inside: false, until: next.from } : { inside: true, until: next.until };
}
