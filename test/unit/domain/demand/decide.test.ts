import { describe, expect, it } from 'vitest';
import { type DemandFacts, decideDemand, installedVersion, stillNeeded } from '../../../../lib/domain/demand/decide.ts';
import type { Remembered } from '../../../../lib/domain/shared/fleet.ts';
import { app, block } from '../../../support/fleet-facts.ts';
import { NOW } from '../../../support/plan-facts.ts';

const CONFIG = { id: 'config-1', action_name: 'install', allow_downgrade: false, auto_takeover: false };

function facts(parts: Partial<DemandFacts> = {}): DemandFacts {
  return {
    run: 'reconciliation',
    config: CONFIG,
    block: block(),
    app: null,
    rendered: { target_version: '2.0.0', config_hash: 'hash-1' },
    allow_downgrade: false,
    owner_active: false,
    agent_present: true,
    ...parts,
  };
}

const enqueue = (why: string, downgrade = false) => ({ kind: 'enqueue', downgrade, why });
const nothing = (why: string) => ({ kind: 'nothing', why });
const skipped = (reason: string) => ({ kind: 'skipped', reason });

describe('installed version: the newest report wins (SPEC §2.1, G6)', () => {
  it.each([
    ['no records at all', null, null, null],
    ['only the block', block({ installed_version: '1.0.0' }), null, '1.0.0'],
    ['only the app', null, app({ installed_version: '1.1.0' }), '1.1.0'],
    ['both from the fleet file: the app', block({ installed_version: '1.0.0' }), app({ installed_version: '1.1.0' }), '1.1.0'],
    [
      'an app nobody reported and that knows nothing: the block',
      block({ installed_version: '1.0.0' }),
      app({ installed_version: null }),
      '1.0.0',
    ],
    [
      'a report after the install: the app',
      block({ installed_at: NOW - 1 }),
      app({ installed_version: '1.1.0', last_reconciled: NOW }),
      '1.1.0',
    ],
    [
      'an install after the last report: the block',
      block({ installed_version: '2.0.0', installed_at: NOW }),
      app({ last_reconciled: NOW - 1 }),
      '2.0.0',
    ],
    [
      'an uninstall after the last report: nothing',
      block({ installed_version: null, installed_at: NOW }),
      app({ last_reconciled: NOW - 1 }),
      null,
    ],
    [
      'a report that it is gone: nothing',
      block({ installed_version: '1.0.0' }),
      app({ installed_version: null, last_reconciled: NOW }),
      null,
    ],
  ])('%s', (_name, b, a, version) => {
    expect(installedVersion(b, a)).toBe(version);
  });
});

describe('reconciliation of install (SPEC §2.1)', () => {
  it('B40 everything on the target: nothing', () => {
    expect(decideDemand(facts({ block: block({ installed_version: '2.0.0' }) }))).toEqual(nothing('up_to_date'));
    expect(decideDemand(facts({ block: block({ installed_version: 'v2.0.0' }) }))).toEqual(nothing('up_to_date'));
  });

  it('B40 an unknown version is not up to date: first install', () => {
    expect(decideDemand(facts({ block: block({ installed_version: null }) }))).toEqual(enqueue('first_install'));
    expect(decideDemand(facts({ block: null }))).toEqual(enqueue('first_install'));
  });

  it('an older version: enqueue', () => {
    expect(decideDemand(facts())).toEqual(enqueue('version'));
  });

  it('B36 a newer version: skipped with the reason, unless a downgrade is allowed, which is called one', () => {
    const newer = block({ installed_version: '2.0.1' });
    expect(decideDemand(facts({ block: newer }))).toEqual(skipped('installed_is_newer'));
    expect(decideDemand(facts({ block: newer, allow_downgrade: true }))).toEqual(enqueue('version', true));
    expect(decideDemand(facts({ block: newer, config: { ...CONFIG, allow_downgrade: true } }))).toEqual(enqueue('version', true));
  });

  it('drift: another rendered hash than that of the last success', () => {
    const current = { installed_version: '2.0.0', config_hash: 'hash-0' };
    expect(decideDemand(facts({ block: block(current) }))).toEqual(enqueue('drift'));
    expect(decideDemand(facts({ block: block({ ...current, config_hash: 'hash-1' }) }))).toEqual(nothing('up_to_date'));
  });

  it('no stored hash is no drift, and neither is no rendered one', () => {
    expect(decideDemand(facts({ block: block({ installed_version: '2.0.0', config_hash: null }) }))).toEqual(nothing('up_to_date'));
    const rendered = { target_version: '2.0.0', config_hash: null };
    expect(decideDemand(facts({ block: block({ installed_version: '2.0.0', config_hash: 'hash-0' }), rendered }))).toEqual(
      nothing('up_to_date'),
    );
  });

  it('without a target version only what is not there, or has drifted', () => {
    const rendered = { target_version: null, config_hash: 'hash-1' };
    expect(decideDemand(facts({ rendered }))).toEqual(nothing('up_to_date'));
    expect(decideDemand(facts({ rendered, block: null }))).toEqual(enqueue('first_install'));
    expect(decideDemand(facts({ rendered, block: block({ config_hash: 'hash-0' }) }))).toEqual(enqueue('drift'));
  });
});

describe('reconciliation of other actions (SPEC §2.1)', () => {
  const uninstall = { ...CONFIG, action_name: 'uninstall' };

  it('uninstall is needed while something is installed', () => {
    expect(decideDemand(facts({ config: uninstall }))).toEqual(enqueue('uninstall'));
    expect(decideDemand(facts({ config: uninstall, block: block({ installed_version: null }) }))).toEqual(nothing('not_installed'));
    expect(decideDemand(facts({ config: uninstall, block: null }))).toEqual(nothing('not_installed'));
  });

  it('any other action is never reconciled', () => {
    expect(decideDemand(facts({ config: { ...CONFIG, action_name: 'backup' } }))).toEqual(nothing('action_not_reconciled'));
  });
});

describe('who may be touched (SPEC §2.4, §2.8)', () => {
  it('an archived block: never, by nobody', () => {
    for (const run of ['reconciliation', 'schedule', 'manual'] as const) {
      expect(decideDemand(facts({ run, block: block({ archived: true }) }))).toEqual(nothing('block_archived'));
    }
  });

  it('auto_rollout false keeps reconciliation away, and nobody else', () => {
    const off = block({ auto_rollout: false });
    expect(decideDemand(facts({ block: off }))).toEqual(nothing('auto_rollout_off'));
    expect(decideDemand(facts({ block: off, run: 'schedule' }))).toEqual(enqueue('schedule'));
    expect(decideDemand(facts({ block: off, run: 'manual' }))).toEqual(enqueue('manual'));
  });

  it('a block that the CLI made: skipped, unless it is taken over', () => {
    const cli = block({ created_by_component: 'cli' });
    expect(decideDemand(facts({ block: cli }))).toEqual(skipped('cli_managed'));
    expect(decideDemand(facts({ block: cli, run: 'manual' }))).toEqual(skipped('cli_managed'));
    expect(decideDemand(facts({ block: cli, config: { ...CONFIG, auto_takeover: true } }))).toEqual(enqueue('version'));
  });

  it('a block that the CLI made and that needs nothing is left out, not skipped', () => {
    expect(decideDemand(facts({ block: block({ created_by_component: 'cli', installed_version: '2.0.0' }) }))).toEqual(
      nothing('up_to_date'),
    );
  });

  it("another active config's block: skipped; free again when that config no longer counts", () => {
    const theirs = block({ managed_by_brc: 'config-2' });
    expect(decideDemand(facts({ block: theirs, owner_active: true }))).toEqual(skipped('owned_by_other_config'));
    expect(decideDemand(facts({ block: theirs, owner_active: false }))).toEqual(enqueue('version'));
    expect(decideDemand(facts({ block: block({ managed_by_brc: 'config-1' }), owner_active: true }))).toEqual(enqueue('version'));
  });

  it('auto_takeover takes from the CLI, never from another config', () => {
    const theirs = block({ managed_by_brc: 'config-2', created_by_component: 'cli' });
    expect(decideDemand(facts({ block: theirs, owner_active: true, config: { ...CONFIG, auto_takeover: true } }))).toEqual(
      skipped('owned_by_other_config'),
    );
  });

  it('an action that changes neither version nor config may come from anybody', () => {
    const theirs = block({ managed_by_brc: 'config-2' });
    const backup = { ...CONFIG, action_name: 'backup' };
    const rendered = { target_version: null, config_hash: null };
    expect(decideDemand(facts({ run: 'schedule', block: theirs, owner_active: true, config: backup, rendered }))).toEqual(
      enqueue('schedule'),
    );
  });
});

describe('memory (SPEC §2.6)', () => {
  const last: Remembered = { target_version: '2.0.0', config_hash: 'hash-1', outcome: 'failed', reason: 'exit_code' };
  const remembering = (parts: Partial<Remembered>, more: Parameters<typeof block>[0] = {}) =>
    block({ ...more, remembered: { 'config-1': { ...last, ...parts } } });

  it('the same version and config that failed is not tried again', () => {
    expect(decideDemand(facts({ block: remembering({}) }))).toEqual(nothing('remembered'));
  });

  it.each([
    ['another target version', { target_version: '1.9.0' }],
    ['another rendered config', { config_hash: 'hash-0' }],
    ['an item that was superseded', { outcome: 'skipped', reason: 'superseded' }],
    ['a target that was gone', { outcome: 'skipped', reason: 'target_gone' }],
  ] as const)('but after %s', (_name, parts) => {
    expect(decideDemand(facts({ block: remembering(parts) }))).toEqual(enqueue('version'));
  });

  it('is per config', () => {
    const other = block({ remembered: { 'config-2': last } });
    expect(decideDemand(facts({ block: other }))).toEqual(enqueue('version'));
  });

  it('cron and people ignore it', () => {
    expect(decideDemand(facts({ run: 'schedule', block: remembering({}) }))).toEqual(enqueue('schedule'));
    expect(decideDemand(facts({ run: 'manual', block: remembering({}) }))).toEqual(enqueue('manual'));
  });

  it('a skip is written once, not at each look', () => {
    const cli = remembering({ outcome: 'skipped', reason: 'cli_managed' }, { created_by_component: 'cli' });
    expect(decideDemand(facts({ block: cli }))).toEqual(nothing('remembered'));
    const newer = remembering({ outcome: 'skipped', reason: 'installed_is_newer' }, { installed_version: '3.0.0' });
    expect(decideDemand(facts({ block: newer }))).toEqual(nothing('remembered'));
  });

  it.each(['cli_managed', 'owned_by_other_config', 'installed_is_newer', 'already_at_target'])(
    'and ends when its cause %s is gone',
    (reason) => {
      expect(decideDemand(facts({ block: remembering({ outcome: 'skipped', reason }) }))).toEqual(enqueue('version'));
    },
  );

  it('one cause followed by another is another skip', () => {
    const cli = remembering({ outcome: 'skipped', reason: 'installed_is_newer' }, { created_by_component: 'cli' });
    expect(decideDemand(facts({ block: cli }))).toEqual(skipped('cli_managed'));
  });

  it('an absent target is reconciled after the next report (SPEC §3.12)', () => {
    const absent = remembering({ outcome: 'skipped', reason: 'target_absent' });
    expect(decideDemand(facts({ block: absent, agent_present: false }))).toEqual(nothing('remembered'));
    expect(decideDemand(facts({ block: absent, agent_present: true }))).toEqual(enqueue('version'));
  });

  it.each(['cancelled', 'skipped_by_user', 'takeover_failed: a.b', null])('a skip for %j lasts until a person acts', (reason) => {
    expect(decideDemand(facts({ block: remembering({ outcome: 'skipped', reason }) }))).toEqual(nothing('remembered'));
  });

  it('a config called like a built-in remembers nothing by accident', () => {
    expect(decideDemand(facts({ config: { ...CONFIG, id: 'constructor' } }))).toEqual(enqueue('version'));
  });
});

describe('schedule and manual (SPEC §2.2, §2.10)', () => {
  const current = block({ installed_version: '2.0.0' });
  const any = { target_version: null, config_hash: null };

  it('a schedule with a target takes those out of date only', () => {
    expect(decideDemand(facts({ run: 'schedule' }))).toEqual(enqueue('schedule'));
    expect(decideDemand(facts({ run: 'schedule', block: null }))).toEqual(enqueue('schedule'));
    expect(decideDemand(facts({ run: 'schedule', block: current }))).toEqual(nothing('up_to_date'));
  });

  it('a schedule without a target takes everybody', () => {
    expect(decideDemand(facts({ run: 'schedule', block: current, rendered: any }))).toEqual(enqueue('schedule'));
    expect(decideDemand(facts({ run: 'schedule', block: null, rendered: any }))).toEqual(enqueue('schedule'));
  });

  it('a person takes also those up to date', () => {
    expect(decideDemand(facts({ run: 'manual', block: current }))).toEqual(enqueue('manual'));
  });

  it('nobody walks back to an older version by accident', () => {
    const newer = block({ installed_version: '3.0.0' });
    for (const run of ['schedule', 'manual'] as const) {
      expect(decideDemand(facts({ run, block: newer }))).toEqual(skipped('installed_is_newer'));
      expect(decideDemand(facts({ run, block: newer, allow_downgrade: true }))).toEqual(enqueue(run, true));
    }
  });

  it('a manual item without a config is held by no owner', () => {
    const owned = block({ managed_by_brc: 'config-2' });
    expect(decideDemand(facts({ run: 'manual', config: { ...CONFIG, id: null }, block: owned, owner_active: true }))).toEqual(
      enqueue('manual'),
    );
  });
});

describe('the second look at dispatch (SPEC §2.7)', () => {
  const item = { action_name: 'install', rendered_target_version: '2.0.0', config_hash: 'hash-1', allow_downgrade: false };
  const look = (installed: string | null, parts = {}, hash: string | null = null) =>
    stillNeeded({
      item: { ...item, ...parts },
      block: block({ installed_version: installed, config_hash: hash }),
      app: null,
      allow_downgrade: false,
    });

  it.each([
    [null, 'upgrade'],
    ['1.0.0', 'upgrade'],
    ['2.0.0', 'up_to_date'],
    ['2.0.1', 'installed_is_newer'],
  ])('installed %s: %s', (installed, demand) => {
    expect(look(installed)).toBe(demand);
  });

  it('the config that made it is still another one: needed', () => {
    expect(look('2.0.0', {}, 'hash-0')).toBe('upgrade');
    expect(look('2.0.0', {}, 'hash-1')).toBe('up_to_date');
  });

  it('a downgrade allowed by the item or by the config is still one', () => {
    expect(look('2.0.1', { allow_downgrade: true })).toBe('upgrade');
    expect(stillNeeded({ item, block: block({ installed_version: '2.0.1' }), app: null, allow_downgrade: true })).toBe('upgrade');
  });

  it('uninstall is needed while something is installed', () => {
    expect(look('1.0.0', { action_name: 'uninstall', rendered_target_version: null })).toBe('upgrade');
    expect(look(null, { action_name: 'uninstall', rendered_target_version: null })).toBe('up_to_date');
  });

  it('an action without a version is always needed', () => {
    expect(look('2.0.0', { action_name: 'backup' })).toBe('upgrade');
    expect(look('2.0.0', { rendered_target_version: null })).toBe('upgrade');
  });

  it('B18 brought to the target by hand: the report counts, not the block', () => {
    const reported = app({ installed_version: '2.0.0', last_reconciled: NOW });
    expect(stillNeeded({ item, block: block(), app: reported, allow_downgrade: false })).toBe('up_to_date');
  });
});
