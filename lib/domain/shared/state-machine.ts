/** A state machine as data: what may follow what, and why. */
export interface Transition<S extends string = string, E extends string = string> {
  readonly from: S;
  readonly event: E;
  readonly to: S;
}

export type StateOf<T extends readonly Transition[]> = T[number]['from' | 'to'];
export type EventOf<T extends readonly Transition[]> = T[number]['event'];

export type TransitionResult<S extends string> =
  | { readonly ok: true; readonly to: S }
  | { readonly ok: false; readonly code: 'invalid_transition'; readonly detail: string };

/** Where `event` leads from `state`, or a refusal that names what would be possible. */
export function transition<const T extends readonly Transition[]>(
  table: T,
  state: StateOf<T>,
  event: EventOf<T>,
): TransitionResult<StateOf<T>> {
  const row = table.find((t) => t.from === state && t.event === event);
  if (row !== undefined) return { ok: true, to: row.to };
  const possible = eventsFrom(table, state);
  const hint = possible.length === 0 ? 'nothing can follow' : `possible: ${possible.join(', ')}`;
  return { ok: false, code: 'invalid_transition', detail: `"${event}" is not possible when ${state}; ${hint}` };
}

/** Events that can happen in a state, in table order. */
export function eventsFrom<const T extends readonly Transition[]>(table: T, state: StateOf<T>): EventOf<T>[] {
  return table.filter((t) => t.from === state).map((t) => t.event);
}

/** States from which an event may come, e.g. for the condition of the write that carries it out. */
export function statesBefore<const T extends readonly Transition[]>(table: T, event: EventOf<T>): StateOf<T>[] {
  return [...new Set(table.filter((t) => t.event === event).map((t) => t.from))];
}

/** States that nothing but an explicit decision of a person leaves (SPEC §12 I6). */
export function terminalStates<const T extends readonly Transition[]>(table: T, explicit: readonly EventOf<T>[]): StateOf<T>[] {
  const states = new Set<StateOf<T>>(table.flatMap((t) => [t.from, t.to]));
  return [...states].filter((s) => eventsFrom(table, s).every((e) => explicit.includes(e)));
}
