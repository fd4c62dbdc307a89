import { item, itemDetail } from '../lib/contracts/api/rollouts.ts';
import type { ApiClient } from './api-client.ts';
import type { Wave } from './terminal/watch.ts';

/** DESIGN §7 `--exit-when-done`: what may hold a pending item without anybody expecting it to move soon. */
const WAITING: ReadonlySet<string> = new Set([
  'agent_silent',
  'agent_missing',
  'cluster_paused',
  'wave_paused',
  'wave_blocked',
  'wave_cancelled',
  'platform_paused',
  'canary_review',
  'window_closed',
  'freeze',
]);

const AT_ONCE = 16;

export interface HeldItem {
  readonly id: string;
  readonly k8s_cluster: string | null;
  readonly workspace: string | null;
  readonly reasons: readonly string[];
  readonly until: string | null;
}

/**
 * True when nothing is in progress or retrying and every pending item is held by something that only time or a person changes.
 * A wave whose items have all ended is waited for until it is completed or blocked, so that its last word is known.
 */
export async function isSettled(api: ApiClient, waves: readonly Wave[]): Promise<boolean> {
  if (waves.some((wave) => wave.in_progress_items > 0)) return false;
  if (waves.some((wave) => wave.status === 'active' && wave.pending_items === 0)) return false;
  for (const wave of waves.filter((one) => one.pending_items > 0)) {
    for await (const held of heldItems(api, wave)) {
      if (held === 'retrying' || !held.reasons.some((reason) => WAITING.has(reason))) return false;
    }
  }
  return true;
}

/** Every waiting item of a wave with its reasons; `retrying` for one that tries again by itself. */
export async function* heldItems(api: ApiClient, wave: Pick<Wave, 'id'>): AsyncGenerator<HeldItem | 'retrying'> {
  const list = (status: string) => api.all(`block-rollout-items/?rollout=${wave.id}&status=${status}&page_size=200`, item);
  for await (const _ of list('retrying')) yield 'retrying';
  let batch: Promise<HeldItem>[] = [];
  for await (const { id } of list('pending')) {
    batch.push(detail(api, id));
    if (batch.length < AT_ONCE) continue;
    yield* await Promise.all(batch);
    batch = [];
  }
  yield* await Promise.all(batch);
}

async function detail(api: ApiClient, id: string): Promise<HeldItem> {
  const { k8s_cluster, workspace, blockers, earliest_start } = await api.get(`block-rollout-items/${id}/`, itemDetail);
  const reasons = blockers.map(({ code }) => code).filter((code) => code !== 'contact_missing');
  return { id, k8s_cluster, workspace: workspace?.name ?? null, reasons, until: earliest_start };
}
