import { describe, expect, it } from 'vitest';
import { LAST_INSTANT } from '../../../lib/domain/shared/time.ts';
import { calendarFacts, resolveWindow, type WindowSources } from '../../../lib/domain/windows/calendar.ts';
import { describeLength, describeUntil } from '../../../lib/domain/windows/describe.ts';
import { firstStart } from '../../../lib/domain/windows/first-start.ts';
import { frozenUntil } from '../../../lib/domain/windows/freezes.ts';
import { isOpen, openings } from '../../../lib/domain/windows/openings.ts';
import type { Freeze, MaintenanceWindow } from '../../../lib/domain/windows/window.ts';
import { at, iso } from '../../support/clock-walk.ts';

const NONE: WindowSources = { config: null, workspace: null, organization: null, systemDefault: null };

function window(start: string, end: string, freezes: readonly Freeze[] = [], time_zone = 'UTC'): MaintenanceWindow {
  return { time_zone, time_slots: [{ start, end }], freezes };
}

function freeze(from: string, to: string): Freeze {
  return { from, to, reason: null };
}

describe('which window', () => {
  const sources = {
    config: window('01:00', '02:00'),
    workspace: window('02:00', '03:00'),
    organization: window('03:00', '04:00'),
    systemDefault: window('04:00', '05:00'),
  };

  it('the rollout config, else workspace, organization, system default, else always open', () => {
    expect(resolveWindow(sources)).toMatchObject({ from: 'config', window: sources.config });
    expect(resolveWindow({ ...sources, config: null })).toMatchObject({ from: 'workspace', window: sources.workspace });
    expect(resolveWindow({ ...sources, config: null, workspace: null })).toMatchObject({ from: 'organization' });
    expect(resolveWindow({ ...NONE, systemDefault: sources.systemDefault })).toMatchObject({ from: 'systemDefault' });
    expect(resolveWindow(NONE)).toMatchObject({ from: null, window: null });
    expect(isOpen(resolveWindow(NONE).calendar, 0)).toBe(true);
  });

  it('the freezes of all add up, each in the zone of its own window', () => {
    const { calendar } = resolveWindow({
      config: window('00:00', '24:00'),
      workspace: window('02:00', '03:00', [freeze('2026-06-01', '2026-06-01')], 'Asia/Kolkata'),
      organization: window('02:00', '03:00', [freeze('2026-06-01', '2026-06-01')], 'America/New_York'),
      systemDefault: null,
    });
    expect(openings(calendar, at('2026-05-01T00:00Z'), 3).map((o) => [iso(o.opens_at), iso(o.closes_at)])).toEqual([
      ['2026-05-01T00:00:00Z', '2026-05-31T18:30:00Z'],
      ['2026-06-02T04:00:00Z', null],
    ]);
  });
});

describe('calendar facts for the plan', () => {
  const night = window('02:00', '04:00');

  it('B30: waiting at 14:00 for 02:00 is a closed window with its next opening', () => {
    expect(calendarFacts({ ...NONE, key: 'k', workspace: night }, 10, at('2026-06-01T14:00Z'))).toEqual({
      key: 'k',
      ready: 10,
      window: { open: false, opens_at: at('2026-06-02T02:00Z'), closes_at: null, zone: 'UTC' },
      frozen_until: null,
      freeze_reason: null,
      changes_at: at('2026-06-02T02:00Z'),
    });
  });

  it('B27: while open it says from when nothing may start', () => {
    expect(calendarFacts({ ...NONE, key: 'k', workspace: night }, 1, at('2026-06-01T02:00Z'))).toMatchObject({
      window: { open: true, opens_at: null, closes_at: at('2026-06-01T04:00Z') },
      changes_at: at('2026-06-01T04:00Z'),
    });
  });

  it('a freeze is shown as a freeze, with the next real opening', () => {
    const frozen = { ...NONE, key: 'k', workspace: night, systemDefault: window('00:00', '24:00', [freeze('2026-06-01', '2026-06-03')]) };
    expect(calendarFacts(frozen, 1, at('2026-06-01T03:00Z'))).toMatchObject({
      window: { open: true, opens_at: at('2026-06-04T02:00Z'), closes_at: null },
      frozen_until: at('2026-06-04T00:00Z'),
      changes_at: at('2026-06-01T04:00Z'),
    });
    expect(calendarFacts(frozen, 1, at('2026-05-31T05:00Z'))).toMatchObject({
      window: { open: false, opens_at: at('2026-06-04T02:00Z') },
      frozen_until: null,
      changes_at: at('2026-06-01T00:00Z'),
    });
  });

  it('the reason of a freeze is that of the first that holds and has one, whoever it comes from', () => {
    const why = (from: string, to: string, reason: string | null): Freeze => ({ from, to, reason });
    const sources = {
      ...NONE,
      key: 'k',
      config: window('02:00', '04:00', [why('2026-06-02', '2026-06-02', 'later'), why('2026-06-01', '2026-06-01', null)]),
      systemDefault: window('02:00', '04:00', [why('2026-06-01', '2026-06-03', 'year end')]),
    };
    expect(calendarFacts(sources, 1, at('2026-06-01T03:00Z')).freeze_reason).toBe('year end');
    expect(calendarFacts(sources, 1, at('2026-06-02T03:00Z')).freeze_reason).toBe('later');
    expect(calendarFacts(sources, 1, at('2026-06-04T03:00Z')).freeze_reason).toBeNull();
  });

  it('the close is the beginning of a freeze when that comes first', () => {
    const frozen = { ...NONE, key: 'k', config: window('02:00', '04:00', [freeze('2026-06-01T03:00:00Z', '2026-06-01T03:10:00Z')]) };
    expect(calendarFacts(frozen, 1, at('2026-06-01T02:00Z')).window).toEqual({
      open: true,
      opens_at: null,
      closes_at: at('2026-06-01T03:00Z'),
      zone: 'UTC',
    });
  });

  it('without window and freezes nothing ever changes', () => {
    expect(calendarFacts({ ...NONE, key: 'k' }, 0, 0)).toEqual({
      key: 'k',
      ready: 0,
      window: { open: true, opens_at: null, closes_at: null, zone: null },
      frozen_until: null,
      freeze_reason: null,
      changes_at: null,
    });
  });
});

describe('frozen until', () => {
  it('is the end of all freezes that follow one another', () => {
    const freezes = [freeze('2026-06-02', '2026-06-03'), freeze('2026-06-01', '2026-06-01'), freeze('2026-06-05', '2026-06-05')];
    expect(iso(frozenUntil(freezes, 'Europe/Berlin', at('2026-06-01T10:00Z')))).toBe('2026-06-03T22:00:00Z');
    expect(frozenUntil(freezes, 'Europe/Berlin', at('2026-06-03T22:00Z'))).toBeNull();
    expect(frozenUntil([], 'Europe/Berlin', 0)).toBeNull();
  });
});

describe('frozen until further notice', () => {
  it('has no next opening, and no time that the wire cannot carry', () => {
    const now = at('2026-06-01T10:00Z');
    const config = window('00:00', '24:00', [freeze('2026-01-01', '9999-12-31')], 'America/New_York');
    const facts = calendarFacts({ ...NONE, config, key: 'c' }, 1, now);
    expect(facts.window).toMatchObject({ open: true, opens_at: null, closes_at: null });
    expect([facts.frozen_until, facts.changes_at]).toEqual([LAST_INSTANT, LAST_INSTANT]);
    expect(firstStart(resolveWindow({ ...NONE, config }).calendar, [{ from: now, until: LAST_INSTANT }], now)).toBeNull();
  });
});

describe('in words', () => {
  const zone = 'Europe/Berlin';
  it.each([
    ['2026-11-29T17:48:00Z', '2026-11-29T21:00:00Z', 'in 3 h 12 min (22:00 Europe/Berlin)'],
    ['2026-11-29T20:59:01Z', '2026-11-29T21:00:00Z', 'in less than a minute (22:00 Europe/Berlin)'],
    ['2026-11-29T20:58:59Z', '2026-11-29T21:00:00Z', 'in 2 min (22:00 Europe/Berlin)'],
    ['2026-11-29T20:00:00Z', '2026-11-29T21:00:00Z', 'in 1 h (22:00 Europe/Berlin)'],
    ['2026-11-29T21:00:00Z', '2026-12-02T21:00:00Z', 'in 3 d (Wed 2026-12-02 22:00 Europe/Berlin)'],
    ['2026-11-29T22:30:00Z', '2026-11-30T01:00:00Z', 'in 2 h 30 min (Mon 2026-11-30 02:00 Europe/Berlin)'],
    ['2026-11-29T21:00:00Z', '2027-11-29T21:00:00Z', 'in 365 d (Mon 2027-11-29 22:00 Europe/Berlin)'],
    ['2026-11-29T21:00:00Z', '2027-11-29T21:01:00Z', 'on Mon 2027-11-29 22:01 Europe/Berlin'],
    ['2026-11-29T21:00:00Z', '2026-11-29T21:00:00Z', 'now'],
  ])('%s → %s: %s', (now, until, text) => {
    expect(describeUntil(at(now), at(until), zone)).toBe(text);
  });

  it('rounds up', () => {
    expect(describeLength(24 * 3_600_000 - 1)).toBe('1 d');
    expect(describeLength(49 * 3_600_000 + 1)).toBe('2 d 2 h');
    expect(describeLength(59 * 60_000 + 1)).toBe('1 h');
  });
});
