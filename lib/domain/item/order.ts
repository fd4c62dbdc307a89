import type { Criticality } from '../shared/fleet.ts';
import type { Item } from '../shared/rollout.ts';

export type OrderFacts = Pick<Item, 'forced' | 'in_maintenance' | 'criticality' | 'enqueued_at' | 'id'>;

const RANK: Readonly<Record<Criticality, string>> = { high: '0', medium: '1', low: '2' };

/**
 * SPEC §3.7: forced, then active Maintenance, then criticality high > medium > low, then enqueue time, then id, as one
 * text: ascending order of the keys is the order of dispatch.
 */
export function dispatchKey(item: OrderFacts): string {
  const flags = `${item.forced ? '0' : '1'}${item.in_maintenance ? '0' : '1'}${RANK[item.criticality]}`;
  return `${flags}#${String(item.enqueued_at).padStart(15, '0')}#${item.id}`;
}

export function compareOrder(a: OrderFacts, b: OrderFacts): number {
  const x = dispatchKey(a);
  const y = dispatchKey(b);
  return x < y ? -1 : x > y ? 1 : 0;
}
