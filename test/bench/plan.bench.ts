/**
 * How long one decision over 200 candidates takes. Run: `node test/bench/plan.bench.ts`.
 * Goal: at most 2 ms for each plan; printed, not asserted, because a busy machine says nothing about the program.
 */
import { plan } from '../../lib/domain/plan/plan.ts';
import { candidate, counters, facts, NOW, wave } from '../support/plan-facts.ts';

const CANDIDATES = 200;
const ROUNDS = 2_000;

const all = Array.from({ length: CANDIDATES }, (_, i) => {
  const held = i % 4 === 0 ? { retry_after: NOW + 60_000 + i, status: 'retrying' as const } : {};
  return candidate(`item-${i}`, { criticality: (['high', 'medium', 'low'] as const)[i % 3] ?? 'low', enqueued_at: NOW - i, ...held });
});
const given = facts({ candidates: all, wave: wave({ counters: counters(10_000, { done: 3_000, in_progress: 100 }) }) });

const times: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  const begin = performance.now();
  plan(given, NOW);
  times.push(performance.now() - begin);
}
times.sort((a, b) => a - b);
const at = (share: number) => (times[Math.floor(share * (times.length - 1))] ?? 0).toFixed(3);
console.log(`plan of ${CANDIDATES} candidates, ${ROUNDS} rounds: median ${at(0.5)} ms, 99% ${at(0.99)} ms, worst ${at(1)} ms`);
