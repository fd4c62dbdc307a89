import * as z from 'zod';
import { item, wave as waveSchema } from '../lib/contracts/api/rollouts.ts';
import type { ApiClient } from './api-client.ts';
import { type HeldItem, heldItems } from './settled.ts';
import { sumOf } from './start-text.ts';
import type { Counters } from './terminal/frame.ts';
import { countersOf } from './terminal/watch.ts';

/** What `--report FILE` writes. */
export interface Report {
  /** From the first enqueue to the last end. */
  readonly seconds: number;
  /** Items that ended. */
  readonly targets: number;
  readonly targets_per_second: number;
  readonly counters: Counters;
  readonly waves: readonly {
    readonly id: string;
    readonly rollout_config: string | null;
    readonly target_version: string | null;
    readonly owner: string | null;
    readonly status: string;
    readonly failure_rate: number;
    readonly counters: Counters;
  }[];
  /** Clusters per installed version; `unknown` = no operator, or nobody knows its version. */
  readonly histogram: Readonly<Record<string, number>>;
  readonly held: readonly { readonly cluster: string; readonly reasons: readonly string[]; readonly until: string | null }[];
  /** `per_item`: without heartbeats that bring no news, ticks and people's requests. */
  readonly units: Units & { readonly per_item: Units };
}

export interface Units {
  readonly write: number;
  readonly read: number;
}

const OPERATOR_APP = 'polycrate-operator';
const named = z.object({ id: z.string(), name: z.string() });
const app = z.object({
  k8s_cluster: z.union([z.string(), z.object({ id: z.string() })]).nullable(),
  installed_version: z.string().nullable(),
});

/** All from the HTTP API but the units, which the API does not serve. */
export async function makeReport(api: ApiClient, { work, write, read }: Units & { readonly work: Units }): Promise<Report> {
  const waves = await collect(api.all('block-rollouts/?page_size=200', waveSchema));
  const span = await spanOf(api);
  const counters = sumOf(waves.map(countersOf));
  const seconds = span.targets === 0 ? 0 : Math.max(0, span.last - span.first) / 1000;
  return {
    seconds,
    targets: span.targets,
    targets_per_second: seconds === 0 ? 0 : Math.round((span.targets / seconds) * 10) / 10,
    counters,
    waves: waves.map((wave) => ({
      id: wave.id,
      rollout_config: wave.rollout_config,
      target_version: wave.target_version,
      owner: wave.owner_kind,
      status: wave.status,
      failure_rate: wave.failure_rate,
      counters: countersOf(wave),
    })),
    histogram: await histogram(api),
    held: await held(
      api,
      waves.filter((wave) => wave.pending_items > 0),
    ),
    units: { write, read, per_item: perItem(work, counters.total) },
  };
}

async function collect<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const row of rows) found.push(row);
  return found;
}

function perItem({ write, read }: Units, items: number): Units {
  const each = (n: number): number => (items === 0 ? 0 : Math.round((n / items) * 100) / 100);
  return { write: each(write), read: each(read) };
}

async function spanOf(api: ApiClient): Promise<{ first: number; last: number; targets: number }> {
  let [first, last, targets] = [Number.POSITIVE_INFINITY, 0, 0];
  for await (const { enqueued_at, completed_at } of api.all('block-rollout-items/?page_size=200', item)) {
    first = Math.min(first, Date.parse(enqueued_at));
    if (completed_at === null) continue;
    last = Math.max(last, Date.parse(completed_at));
    targets += 1;
  }
  return { first, last, targets };
}

async function histogram(api: ApiClient): Promise<Record<string, number>> {
  const versions = new Map<string, string>();
  for await (const { k8s_cluster, installed_version } of api.all(`kubernetes/apps/?name=${OPERATOR_APP}&page_size=200`, app)) {
    const id = typeof k8s_cluster === 'string' ? k8s_cluster : k8s_cluster?.id;
    if (id !== undefined && installed_version !== null) versions.set(id, installed_version);
  }
  const counts: Record<string, number> = {};
  for await (const { id } of api.all('kubernetes/clusters/?page_size=200', named)) {
    const version = versions.get(id) ?? 'unknown';
    counts[version] = (counts[version] ?? 0) + 1;
  }
  return Object.fromEntries(Object.entries(counts).sort(([a, m], [b, n]) => n - m || a.localeCompare(b)));
}

async function held(api: ApiClient, waves: readonly { readonly id: string }[]): Promise<Report['held']> {
  const found: HeldItem[] = [];
  for (const wave of waves) for await (const one of heldItems(api, wave)) if (one !== 'retrying') found.push(one);
  return Promise.all(
    found.map(async ({ k8s_cluster, workspace, reasons, until }) => {
      const cluster = k8s_cluster === null ? (workspace ?? '') : (await api.get(`kubernetes/clusters/${k8s_cluster}/`, named)).name;
      return { cluster, reasons, until };
    }),
  );
}
