import { expect, test } from 'vitest';
import { SEEDED_SETTINGS } from '../../../lib/adapters/dynamodb/settings-store.ts';
import { alertLasts, deadlinesSuspended } from '../../../lib/app/agents/watch-state.ts';
import { HOUR, MINUTE } from '../../../lib/domain/shared/time.ts';

const settings = { ...SEEDED_SETTINGS, AGENT_CRITICAL_AFTER_SECONDS: 300 };
const state = (alert: { since: number; ended_at: number | null } | null) => ({ revision: 1, checked_at: 0, alert });
const now = 100 * HOUR;

test('no deadline fires during an alert nor for the critical time beyond it', () => {
  expect(deadlinesSuspended(state(null), settings, now)).toBe(false);
  expect(deadlinesSuspended(state({ since: now, ended_at: null }), settings, now + 10 * HOUR)).toBe(true);
  expect(deadlinesSuspended(state({ since: 0, ended_at: now }), settings, now + 5 * MINUTE - 1)).toBe(true);
  expect(deadlinesSuspended(state({ since: 0, ended_at: now }), settings, now + 5 * MINUTE)).toBe(false);
});

test('an alert lasts while more than half of those heard before it are silent, however long', () => {
  const alert = { since: now, ended_at: null };
  const gone = Array.from({ length: 10 }, () => now - 5 * MINUTE);
  const back = (n: number, at: number) => [...gone.slice(n), ...Array.from({ length: n }, () => at)];
  const later = now + 3 * HOUR;
  expect(alertLasts(alert, gone, 180, later)).toBe(true);
  expect(alertLasts(alert, back(4, later), 180, later)).toBe(true);
  expect(alertLasts(alert, back(5, later), 180, later)).toBe(false);
  expect(alertLasts(alert, [...back(5, later), now - 2 * HOUR], 180, later)).toBe(false);
});
