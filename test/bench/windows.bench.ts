import { nextOpening } from '../../lib/domain/windows/openings.ts';
import type { MaintenanceWindow } from '../../lib/domain/windows/window.ts';

/** Budgets (DESIGN §9): 10,000 next openings in less than 1 s, one in at most 0.1 ms. `node test/bench/windows.bench.ts` */

const ZONES = ['Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe'];
const COUNT = 10_000;
const FROM = 1_795_910_400_000; // 2026-11-29
const HOUR = 3_600_000;

/** A new object each time, as they come from the table: nothing is remembered of the window itself. */
function night(index: number): MaintenanceWindow {
  return {
    time_zone: ZONES[index % ZONES.length] ?? 'UTC',
    time_slots: [
      { days: ['mon', 'tue', 'wed', 'thu'], start: '22:00', end: '04:00' },
      { days: ['sat', 'sun'], start: '08:30', end: '24:00' },
    ],
    freezes: [{ from: '2026-12-20', to: '2027-01-02', reason: 'year end' }],
  };
}

function timed(run: () => void): number {
  const start = performance.now();
  run();
  return performance.now() - start;
}

const first = timed(() => nextOpening(night(0), FROM));
const all = timed(() => {
  for (let i = 0; i < COUNT; i++) nextOpening(night(i), FROM + (i % 4_000) * HOUR);
});
const singles = Array.from({ length: 1_000 }, (_, i) => timed(() => nextOpening(night(i), FROM + i * HOUR))).sort((a, b) => a - b);

process.stdout.write(`next opening, first call of the process   ${first.toFixed(3)} ms\n`);
process.stdout.write(`next opening, ${COUNT} computations       ${all.toFixed(0)} ms (budget 1000)\n`);
process.stdout.write(
  `next opening, one (median, p99)           ${singles[500]?.toFixed(4)} ms, ${singles[990]?.toFixed(4)} ms (budget 0.1)\n`,
);
