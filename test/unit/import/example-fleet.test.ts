import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checkFleet } from '../../../lib/app/import/check.ts';
import type { FleetFile } from '../../../lib/contracts/fleet.ts';
import { compareVersions } from '../../../lib/domain/version/compare.ts';
import { exampleFleet } from '../../../scripts/example-fleet.ts';

const OPERATOR = 'polycrate-operator';
const NONE = { config: () => [], selector: () => null };

function parse(text: string): FleetFile {
  const checked = checkFleet(text, NONE);
  if (!checked.ok) throw new Error(JSON.stringify(checked.mistakes));
  return checked.fleet;
}

interface Cluster {
  readonly path: string;
  readonly installed: string | null;
  readonly byCli: boolean;
  readonly silent: boolean;
  readonly fails: boolean;
}

function clustersOf(fleet: FleetFile): Cluster[] {
  return (fleet.organizations ?? []).flatMap((o) =>
    (o.workspaces ?? []).flatMap((w) =>
      (w.clusters ?? []).map((c) => {
        const path = `${o.name}/${w.name}/${c.name}`;
        const rules = (fleet.simulation?.rules ?? []).filter((rule) => rule.cluster === path);
        return {
          path,
          installed: (c.apps ?? []).find((app) => app.name === OPERATOR)?.installed_version ?? null,
          byCli: (c.blocks ?? []).some((block) => block.name.endsWith(OPERATOR) && block.created_by_component === 'cli'),
          silent: rules.some((rule) => rule.silent === true),
          fails: rules.some((rule) => rule.fail === 'always'),
        };
      }),
    ),
  );
}

/** What the rules of SPEC §2 and §3 make of each cluster in the end. */
function endOf(cluster: Cluster, target: string): 'none' | 'done' | 'pending' | 'failed' | 'skipped' {
  const verdict = compareVersions(cluster.installed, target, false);
  if (verdict === 'up_to_date') return 'none';
  if (verdict === 'installed_is_newer' || cluster.byCli) return 'skipped';
  if (cluster.silent) return 'pending';
  return cluster.fails ? 'failed' : 'done';
}

describe('examples/fleet.yaml', () => {
  const text = readFileSync('examples/fleet.yaml', 'utf8');
  const fleet = parse(text);
  const clusters = clustersOf(fleet);
  const target = String(fleet.system_config?.OPERATOR_BLOCK_VERSION);

  it('has 30 clusters of 6 organizations with mixed criticality and versions', () => {
    expect(fleet.organizations).toHaveLength(6);
    expect(clusters).toHaveLength(30);
    const criticalities = (fleet.organizations ?? []).flatMap((o) => [o.criticality, ...(o.workspaces ?? []).map((w) => w.criticality)]);
    expect(new Set(criticalities.filter((c) => c !== undefined))).toEqual(new Set(['high', 'medium', 'low']));
    expect(new Set(clusters.map((c) => c.installed)).size).toBeGreaterThanOrEqual(6);
    expect([
      clusters.filter((c) => c.byCli).length,
      clusters.filter((c) => c.silent).length,
      clusters.filter((c) => c.fails).length,
    ]).toEqual([1, 1, 1]);
  });

  it('ends with the counters and versions that its first lines promise', () => {
    const ends = clusters.map((cluster) => endOf(cluster, target));
    const count = (end: string): number => ends.filter((one) => one === end).length;
    const counters = {
      total: 30 - count('none'),
      done: count('done'),
      pending: count('pending'),
      failed: count('failed'),
      skipped: count('skipped'),
    };
    expect(counters).toEqual({ total: 27, done: 23, pending: 1, failed: 1, skipped: 2 });
    const promised = (word: string): number => Number(text.match(new RegExp(`#\\s+(\\d+)(?: items)?\\s+${word}\\b`))?.[1]);
    expect({
      total: promised('Total'),
      done: promised('Done'),
      pending: promised('Pending'),
      failed: promised('Failed'),
      skipped: promised('Skipped'),
    }).toEqual(counters);
    const versions = clusters.map((cluster, index) => (ends[index] === 'done' ? target : cluster.installed));
    expect(versions.filter((version) => version === target)).toHaveLength(26);
    expect(versions.filter((version) => version !== target).sort()).toEqual(['0.31.2', '0.32.0', '0.33.1', '0.34.1']);
    expect(text).toContain('26 × 0.34.0, and one each of 0.34.1 (cedar-test-2), 0.33.1 (physics), 0.32.0 (depot-4), 0.31.2 (chemistry)');
  });
});

describe('npm run example:fleet', () => {
  const options = { clusters: 500, seed: 7, percentage: 20, target: '0.34.0', instant: false };

  it('prints a right fleet of the size that was asked for, the same for the same seed', () => {
    const text = exampleFleet(options);
    expect(clustersOf(parse(text))).toHaveLength(500);
    expect(exampleFleet(options)).toBe(text);
    expect(exampleFleet({ ...options, seed: 8 })).not.toBe(text);
    expect(clustersOf(parse(exampleFleet({ ...options, clusters: 1 })))).toHaveLength(1);
  });

  it('makes every cluster a target that works at once with --instant', () => {
    const fleet = parse(exampleFleet({ ...options, instant: true, percentage: 100 }));
    expect(clustersOf(fleet).every((cluster) => endOf(cluster, '0.34.0') === 'done')).toBe(true);
    expect(fleet.simulation).toEqual({ seed: 7, default: { seconds: [0, 0], fail: 0, silent: false } });
    expect(fleet.system_config?.OPERATOR_ROLLOUT_PERCENTAGE).toBe(100);
  });
});
