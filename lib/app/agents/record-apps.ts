import { type Block, type K8sApp, OPERATOR_APP, OPERATOR_BLOCK } from '../../domain/shared/fleet.ts';
import type { Instant } from '../../domain/shared/time.ts';
import { derivedId } from '../derived-ids.ts';
import { AppError } from '../errors.ts';
import { newManaged } from '../managed.ts';
import type { Also, Create, Demand } from '../ports.ts';
import { changedApps } from './apps.ts';
import type { Presence, ReportedApp } from './presence.ts';
import type { AgentServices } from './services.ts';

const TRIES = 5;

/**
 * Brings the app rows up to what the report says (the newest report wins, SPEC §2.1) and asks for reconciliation of the cluster where another
 * version appeared (SPEC §2.9). Says whether a state got better.
 */
export async function recordApps(
  services: AgentServices,
  row: Presence,
  reported: readonly ReportedApp[] | null,
  now: Instant,
  read: ReadonlyMap<string, K8sApp> | null,
): Promise<boolean> {
  const cluster = row.k8s_cluster;
  if (reported === null || cluster === null) return false;
  const changed = changedApps(row.apps, reported).map((app) => ({ ...app, id: derivedId.app(services.ids, cluster, app.name) }));
  const rows = read ?? (await services.objects.getSome({ k8s_app: changed.map((app) => app.id) })).k8s_app;
  let recovered = false;
  for (const app of changed) recovered = (await recordApp(services, row, cluster, app, rows.get(app.id) ?? null, now)) || recovered;
  return recovered;
}

async function recordApp(
  services: AgentServices,
  row: Presence,
  cluster: string,
  app: ReportedApp & { readonly id: string },
  read: K8sApp | null,
  now: Instant,
): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    const before = attempt === 1 ? read : await services.objects.get('k8s_app', app.id, true);
    if (before === null && app.installed_version === null) return false;
    if (
      before !== null &&
      before.last_reconciled !== null &&
      before.installed_version === app.installed_version &&
      before.state === app.state
    )
      return false;
    try {
      await writeApp(services, row, cluster, before, app, now);
      return before?.state === 'CRITICAL' && app.state !== 'CRITICAL';
    } catch (error) {
      const raced = error instanceof AppError && (error.kind === 'stale' || error.kind === 'conflict');
      if (!raced || attempt >= TRIES) throw error;
    }
  }
}

async function writeApp(
  services: AgentServices,
  row: Presence,
  cluster: string,
  before: K8sApp | null,
  app: ReportedApp,
  now: Instant,
): Promise<void> {
  const { objects } = services;
  const changed = before?.installed_version !== app.installed_version;
  // An open run of this app says itself what follows when it ends.
  const run = Object.values(row.inbox).find((open) => open.app === app.name);
  const busy = run !== undefined;
  const block = !busy && (changed || before?.block == null) ? await blockOf(services, row, cluster, before, app.name) : null;
  const installer = before?.block ?? block?.id ?? (busy ? derivedId.block(services.ids, cluster, run.block) : null);
  const reported = { installed_version: app.installed_version, state: app.state, last_reconciled: now, updated_at: now };
  const demand = changed && !busy ? demandFor(services, row, cluster, app, now) : null;
  const also: Also[] = demand === null ? [] : [{ kind: 'demand', demand }];
  if (demand !== null && block !== null && block.installed_version !== app.installed_version) {
    const after: Block = { ...block, installed_version: app.installed_version, updated_at: now };
    also.push({ kind: 'object', type: 'block', before: block, after });
  }
  if (before === null) await objects.create('k8s_app', newApp(services, row, cluster, app, installer, now), also);
  else await objects.replace('k8s_app', before, { ...before, block: installer, ...reported }, also);
  if (demand !== null) await services.engine.demandWritten(demand);
}

function demandFor(services: AgentServices, row: Presence, cluster: string, app: ReportedApp, now: Instant): Demand {
  return {
    id: services.ids.fresh(),
    kind: 'reconcile',
    rollout_config: null,
    clusters: [cluster],
    workspaces: [],
    organizations: [],
    scheduled_for: null,
    created_at: now,
    allow_downgrade: false,
    requested_by: `agent ${row.reported_agent_id}: ${app.name} ${app.installed_version ?? 'not installed'}`,
  };
}

function newApp(
  services: AgentServices,
  row: Presence,
  cluster: string,
  app: ReportedApp,
  block: string | null,
  now: Instant,
): Create<K8sApp> {
  return {
    ...newManaged({ id: derivedId.app(services.ids, cluster, app.name), name: app.name, now }),
    organization: row.organization,
    workspace: row.workspace,
    k8s_cluster: cluster,
    block,
    installed_version: app.installed_version,
    last_reconciled: now,
    state: app.state,
    excluded_from_downtime_until: null,
  };
}

/** The block that installs an app: the one that names it, else the one whose name ends in it (SPEC §2.1). */
async function blockOf(services: AgentServices, row: Presence, cluster: string, app: K8sApp | null, name: string): Promise<Block | null> {
  const { objects, ids } = services;
  if (app?.block != null) return objects.get('block', app.block, true);
  if (name === OPERATOR_APP) return objects.get('block', derivedId.block(ids, cluster, OPERATOR_BLOCK), true);
  const page = await objects.listIds('block', { organization: row.organization, path: [row.workspace, cluster] }, { limit: 200 });
  const blocks = [...(await objects.getMany('block', page.ids)).values()];
  return blocks.find((block) => block.app === name) ?? blocks.find((block) => block.app === null && appOfBlock(block) === name) ?? null;
}

export const appOfBlock = (block: Pick<Block, 'app' | 'name'>): string => block.app ?? block.name.split('/').at(-1) ?? block.name;
