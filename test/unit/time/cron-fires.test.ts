import { describe, expect, it } from 'vitest';
import { type Cron, parseCron } from '../../../lib/domain/recurrence/cron.ts';
import { firesAt, latestFire, nextFire, nextFires } from '../../../lib/domain/recurrence/fires.ts';
import { localText } from '../../../lib/domain/recurrence/local-text.ts';
import { MINUTE } from '../../../lib/domain/shared/time.ts';
import { at, iso } from '../../support/clock-walk.ts';
import { fastest } from '../../support/fastest.ts';

function cron(text: string): Cron {
  const parsed = parseCron(text);
  if (!parsed.ok) throw new Error(`${parsed.field}: ${parsed.reason}`);
  return parsed.cron;
}

function fires(text: string, zone: string, after: string, until: string): (string | null)[] {
  const found: (string | null)[] = [];
  for (let t = nextFire(cron(text), zone, at(after)); t !== null && t < at(until); t = nextFire(cron(text), zone, t)) found.push(iso(t));
  return found;
}

const BERLIN = 'Europe/Berlin';

describe('spring gap', () => {
  it('B32 boundary 1: 02:30 on the day without 02:30 does not fire; the next run is 2026-03-30T00:30Z', () => {
    expect(fires('30 2 * * *', BERLIN, '2026-03-28T12:00Z', '2026-03-30T12:00Z')).toEqual(['2026-03-30T00:30:00Z']);
    expect(fires('30 2 * * *', BERLIN, '2026-03-27T12:00Z', '2026-03-31T12:00Z')).toEqual([
      '2026-03-28T01:30:00Z',
      '2026-03-30T00:30:00Z',
      '2026-03-31T00:30:00Z',
    ]);
  });

  it('B32: preview and trigger agree minute by minute over the clock change', () => {
    const rule = cron('30 2 * * *');
    const [from, until] = [at('2026-03-28T12:00Z'), at('2026-03-30T12:00Z')];
    const fired: number[] = [];
    for (let t = from + MINUTE; t <= until; t += MINUTE) if (firesAt(rule, BERLIN, t)) fired.push(t);
    expect(fired).toEqual(nextFires(rule, BERLIN, from, 5).filter((t) => t <= until));
  });

  it('every minute goes on over the gap without a pause', () => {
    expect(fires('* * * * *', BERLIN, '2026-03-29T00:58Z', '2026-03-29T01:02Z')).toEqual([
      '2026-03-29T00:59:00Z',
      '2026-03-29T01:00:00Z',
      '2026-03-29T01:01:00Z',
    ]);
  });

  it('half-hour gap of Lord Howe: 02:15 is skipped, 02:30 fires', () => {
    // 2026-10-04 02:00 (+10:30) becomes 02:30 (+11:00).
    expect(fires('15 2 4 10 *', 'Australia/Lord_Howe', '2026-10-01T00:00Z', '2026-12-01T00:00Z')).toEqual([]);
    expect(fires('30 2 4 10 *', 'Australia/Lord_Howe', '2026-10-01T00:00Z', '2026-12-01T00:00Z')).toEqual(['2026-10-03T15:30:00Z']);
  });

  it('a zone that skips a day: nothing fires on 2011-12-30 in Apia', () => {
    expect(fires('0 12 * * *', 'Pacific/Apia', '2011-12-29T00:00Z', '2011-12-31T12:00Z')).toEqual([
      '2011-12-29T22:00:00Z',
      '2011-12-30T22:00:00Z',
    ]);
    expect(fires('0 12 30 12 *', 'Pacific/Apia', '2011-06-01T00:00Z', '2012-12-31T23:59Z')).toEqual(['2012-12-29T22:00:00Z']);
  });
});

describe('fall-back hour', () => {
  it('a time in the repeated hour fires at its first occurrence', () => {
    expect(fires('30 2 25 10 *', BERLIN, '2026-10-24T12:00Z', '2026-10-26T12:00Z')).toEqual(['2026-10-25T00:30:00Z']);
    expect(firesAt(cron('30 2 * * *'), BERLIN, at('2026-10-25T01:30Z'))).toBe(false);
  });

  it('steps too fire once for each wall-clock time', () => {
    expect(fires('*/30 2 25 10 *', BERLIN, '2026-10-24T12:00Z', '2026-10-26T12:00Z')).toEqual([
      '2026-10-25T00:00:00Z',
      '2026-10-25T00:30:00Z',
    ]);
  });

  it('asked in the second pass, it goes on after the hour', () => {
    expect(iso(nextFire(cron('*/15 * * * *'), BERLIN, at('2026-10-25T01:10Z')))).toBe('2026-10-25T02:00:00Z');
  });

  it('a clock that goes back over midnight does not run the day twice (Santiago)', () => {
    // 2026-04-05 00:00 (-03) becomes 2026-04-04 23:00 (-04).
    expect(fires('30 23 4 4 *', 'America/Santiago', '2026-04-04T00:00Z', '2026-04-06T00:00Z')).toEqual(['2026-04-05T02:30:00Z']);
    expect(fires('0 0 5 4 *', 'America/Santiago', '2026-04-04T00:00Z', '2026-04-06T00:00Z')).toEqual(['2026-04-05T04:00:00Z']);
  });
});

describe('dates', () => {
  it('boundary 3: Sunday 08:00 in Berlin on the day of the clock change', () => {
    expect(nextFires(cron('0 8 * * 0'), BERLIN, at('2026-03-28T22:00Z'), 2).map(iso)).toEqual([
      '2026-03-29T06:00:00Z',
      '2026-04-05T06:00:00Z',
    ]);
  });

  it('boundary 5: both day fields given = either matches, 61 days in 2026', () => {
    expect(fires('0 0 13 * 5', 'UTC', '2025-12-31T23:59Z', '2027-01-01T00:00Z')).toHaveLength(61);
  });

  it('boundary 6: leap day and the 31st', () => {
    expect(iso(nextFire(cron('0 0 29 2 *'), 'UTC', at('2026-01-01T00:00Z')))).toBe('2028-02-29T00:00:00Z');
    expect(iso(nextFire(cron('0 0 31 * *'), 'UTC', at('2026-01-31T12:00Z')))).toBe('2026-03-31T00:00:00Z');
    expect(iso(nextFire(cron('0 0 29 2 *'), 'UTC', at('2096-03-01T00:00Z')))).toBe('2104-02-29T00:00:00Z');
    // 29 February on a Saturday or Sunday, over the year without leap day.
    expect(iso(nextFire(cron('0 0 29 2 */6'), 'UTC', at('2088-03-01T00:00Z')))).toMatch(/-02-29T00:00:00Z$/);
  });

  it('the year end belongs to the zone', () => {
    expect(iso(nextFire(cron('0 0 1 1 *'), 'Pacific/Kiritimati', at('2026-06-01T00:00Z')))).toBe('2026-12-31T10:00:00Z');
    expect(iso(nextFire(cron('59 23 31 12 *'), 'Asia/Kolkata', at('2026-06-01T00:00Z')))).toBe('2026-12-31T18:29:00Z');
  });

  it('is strictly after the given instant, to the millisecond', () => {
    const rule = cron('0 2 * * *');
    const fire = at('2026-06-01T00:00Z');
    expect(nextFire(rule, BERLIN, fire - 1)).toBe(fire);
    expect(iso(nextFire(rule, BERLIN, fire))).toBe('2026-06-02T00:00:00Z');
  });

  it('a call within the minute is no fire', () => {
    expect(firesAt(cron('* * * * *'), 'UTC', at('2026-06-01T00:00Z'))).toBe(true);
    expect(firesAt(cron('* * * * *'), 'UTC', at('2026-06-01T00:00:01Z'))).toBe(false);
  });

  it('gives as many fires as asked for', () => {
    expect(nextFires(cron('0 22 * * FRI'), BERLIN, at('2026-11-29T00:00Z'), 10)).toHaveLength(10);
    expect(nextFires(cron('0 22 * * FRI'), BERLIN, at('2026-11-29T00:00Z'), 0)).toEqual([]);
  });
});

describe('catching up', () => {
  it('B34: after 110 missed minutes one fire is caught up, the latest, and the next one lies in the future', () => {
    const now = at('2026-06-01T01:50:20Z');
    expect(iso(latestFire(cron('* * * * *'), 'UTC', at('2026-06-01T00:00Z'), now))).toBe('2026-06-01T01:50:00Z');
    expect(iso(nextFire(cron('* * * * *'), 'UTC', now))).toBe('2026-06-01T01:51:00Z');
  });

  it('B35: a fire that was done is not missed again', () => {
    const fire = at('2026-06-01T00:00Z');
    expect(latestFire(cron('0 2 * * *'), BERLIN, fire - 1, fire)).toBe(fire);
    expect(latestFire(cron('0 2 * * *'), BERLIN, fire, fire + 10 * MINUTE)).toBeNull();
    expect(latestFire(cron('0 2 * * *'), BERLIN, fire, fire)).toBeNull();
    expect(latestFire(cron('0 2 * * *'), BERLIN, fire, fire - 1)).toBeNull();
  });

  it('finds the latest over years and over a clock change', () => {
    expect(iso(latestFire(cron('0 0 29 2 *'), 'UTC', at('1990-01-01T00:00Z'), at('2027-12-01T00:00Z')))).toBe('2024-02-29T00:00:00Z');
    expect(iso(latestFire(cron('30 2 * * *'), BERLIN, at('2026-03-20T00:00Z'), at('2026-03-29T12:00Z')))).toBe('2026-03-28T01:30:00Z');
  });

  it('ten years of missed minutes cost no time', () => {
    expect(fastest(() => latestFire(cron('* * * * *'), BERLIN, at('2016-01-01T00:00Z'), at('2026-01-01T00:00Z')))).toBeLessThan(50);
  });
});

describe('local text', () => {
  it('says clock, offset and zone', () => {
    expect(localText(at('2026-03-29T06:00Z'), BERLIN)).toBe('2026-03-29 08:00 +02:00 Europe/Berlin');
    expect(localText(at('2026-10-25T00:30Z'), BERLIN)).toBe('2026-10-25 02:30 +02:00 Europe/Berlin');
    expect(localText(at('2026-10-25T01:30Z'), BERLIN)).toBe('2026-10-25 02:30 +01:00 Europe/Berlin');
    expect(localText(at('2026-01-01T00:00Z'), 'America/St_Johns')).toBe('2025-12-31 20:30 -03:30 America/St_Johns');
    expect(localText(at('2026-01-01T00:00Z'), 'UTC')).toBe('2026-01-01 00:00 +00:00 UTC');
  });
});
