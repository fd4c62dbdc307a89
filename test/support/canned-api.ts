import { once } from 'node:events';
import { createServer } from 'node:http';
import { ApiClient } from '../../local/api-client.ts';

type Json = Readonly<Record<string, unknown>>;

/** What the canned API knows; lists are filtered by the query as the real one does it, two rows a page. */
export interface Canned {
  waves: Json[];
  items: Json[];
  runs: Json[];
  clusters: { id: string; name: string; version: string | null }[];
}

const ZERO = '01900000-0000-7000-8000-000000000000';
export const idOf = (n: number): string => ZERO.slice(0, -4) + String(n).padStart(4, '0');
const TIME = '2026-03-01T00:00:00.000Z';
const MANAGED = {
  name: 'x',
  display_name: null,
  labels: {},
  annotations: {},
  created_at: TIME,
  updated_at: TIME,
  archived: false,
  archived_at: null,
  archived_reason: null,
  url: '',
};

export function cannedWave(n: number, more: Json): Json {
  const numbers = {
    total_items: 0,
    dispatched_items: 0,
    in_progress_items: 0,
    completed_items: 0,
    pending_items: 0,
    failed_items: 0,
    skipped_items_count: 0,
  };
  return {
    ...MANAGED,
    ...numbers,
    id: idOf(n),
    batch_identifier: 'b',
    rollout_config: null,
    block_name: 'ayedo/k8s/polycrate-operator',
    owner_kind: null,
    target_version: '0.34.0',
    source: 'scheduler',
    reason: null,
    status: 'active',
    status_reason: null,
    is_terminal: false,
    failure_rate: 0,
    quiescence_seconds: 30,
    last_item_added_at: null,
    completed_at: null,
    recheck_at: null,
    ...more,
  };
}

export function cannedItem(n: number, more: Json): Json {
  return {
    ...MANAGED,
    id: idOf(n),
    organization: null,
    workspace: null,
    k8s_cluster: null,
    block: idOf(n),
    block_name: 'b',
    rollout: idOf(1),
    rollout_config: null,
    action_name: 'install',
    status: 'pending',
    source: 'scheduler',
    source_user: null,
    reason: null,
    rendered_target_version: null,
    retry_count: 0,
    retry_after: null,
    action_run: null,
    attempts: [],
    enqueued_at: TIME,
    dispatched_at: null,
    completed_at: null,
    forced: false,
    blockers: [],
    earliest_start: null,
    ...more,
  };
}

export const held = (...codes: string[]): Json[] => codes.map((code) => ({ code, detail: null, until: null }));

/** A real HTTP server with canned answers: what `npm start` reads of the API, without the product behind it. */
export async function cannedApi(state: Canned) {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://x');
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(route(state, url)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { api: new ApiClient(`http://127.0.0.1:${port}`, 'key'), stop };
}

function route(state: Canned, url: URL): unknown {
  const [kind = '', id = ''] = url.pathname.replace('/api/v1/', '').replace('kubernetes/', '').split('/');
  if (kind === 'operator-rollout') {
    const summary = {
      clusters: state.clusters.length,
      desired_version: '0.34.0',
      percentage: 20,
      gate_places: 6,
      gate_updating: 0,
      by_status: {},
      by_state: {},
      stuck: 0,
    };
    return { summary, histogram: [], count: 0, next: null, previous: null, results: [] };
  }
  const lists: Readonly<Record<string, readonly Json[]>> = {
    'block-rollouts': state.waves,
    'block-rollout-items': state.items,
    'action-runs': state.runs,
    clusters: state.clusters.map(({ id: own, name }) => ({ id: own, name })),
    apps: state.clusters.map(({ id: own, version }) => ({ k8s_cluster: own, installed_version: version })),
  };
  const list = lists[kind] ?? [];
  return id === '' ? page(list, url) : list.find((row) => row['id'] === id);
}

function page(list: readonly Json[], url: URL): unknown {
  const filters = [...url.searchParams].filter(([name]) => name === 'rollout' || name === 'status');
  const rows = list.filter((row) => filters.every(([name, value]) => row[name] === value));
  const from = Number(url.searchParams.get('cursor') ?? 0);
  const size = Math.min(2, Number(url.searchParams.get('page_size') ?? 50));
  const next = new URL(url);
  next.searchParams.set('cursor', String(from + size));
  return {
    count: rows.length,
    next: from + size < rows.length ? `${next.pathname}${next.search}` : null,
    previous: null,
    results: rows.slice(from, from + size),
  };
}
