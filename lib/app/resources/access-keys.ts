import type { Instant } from '../../domain/shared/time.ts';
import { conflict, invalid, notFound } from '../errors.ts';
import { makeKey, prefixOf } from '../keys/format.ts';
import { agentManifest } from '../keys/manifest.ts';
import { newManaged } from '../managed.ts';
import type { AccessKey } from '../ports.ts';
import { everyRow } from './list.ts';
import type { ResourceServices } from './services.ts';
import { create, edit, find, findParent } from './write.ts';

export interface NewApiKey {
  readonly name: string;
  readonly role?: 'platform_admin' | 'member';
  readonly access?: AccessKey['access'];
  readonly organization?: string | null;
  readonly expires_at?: Instant | null;
}

export interface MadeApiKey {
  readonly record: AccessKey;
  /** Shown once; only its hash is kept. */
  readonly key: string;
}

export async function createApiKey(services: ResourceServices, request: NewApiKey, actor: string): Promise<MadeApiKey> {
  if (request.role === 'member')
    throw invalid(
      'role',
      'Keys of organization members are not offered yet; make a platform_admin key, with access "read" if it shall change nothing.',
    );
  if (request.organization != null) throw invalid('organization', 'A platform_admin key belongs to no organization; leave it out.');
  refusePast(services, request.expires_at);
  const id = services.ids.fresh();
  const { key, secret_hash } = makeKey(services.crypto, 'brk', id);
  const admin = adminKeyRecord({ id, name: request.name, secret_hash, now: services.clock.now() });
  const { access = 'read_write', expires_at = null } = request;
  return { record: await create(services, 'access_key', { ...admin, access, expires_at }, actor), key };
}

/** An administrator's key that may change everything and does not expire. */
export function adminKeyRecord({ id, name, secret_hash, now }: { id: string; name: string; secret_hash: string; now: Instant }) {
  return {
    ...newManaged({ id, name, now }),
    ...({ role: 'platform_admin', access: 'read_write' } as const),
    ...{ prefix: prefixOf('brk', id), secret_hash, organization: null, workspace: null, k8s_cluster: null },
    ...{ expires_at: null, revoked_at: null, last_used_at: null },
  };
}

export interface NewAgentKey {
  readonly name: string;
  readonly workspace: string;
  readonly k8s_cluster?: string | null;
  readonly expires_at?: Instant | null;
}

export interface MadeAgentKey extends MadeApiKey {
  readonly manifest: string;
}

/** SPEC §6 "Token first": bound to a workspace, optionally to one of its clusters. */
export async function createAgentKey(
  services: ResourceServices,
  request: NewAgentKey,
  apiUrl: string,
  actor: string,
): Promise<MadeAgentKey> {
  const workspace = await findParent(services, 'workspace', request.workspace, 'workspace');
  const cluster = request.k8s_cluster == null ? null : await findParent(services, 'k8s_cluster', request.k8s_cluster, 'k8s_cluster');
  if (cluster !== null && cluster.workspace !== workspace.id)
    throw invalid('k8s_cluster', `Cluster "${cluster.name}" is not in workspace "${workspace.name}".`);
  refusePast(services, request.expires_at);
  const id = services.ids.fresh();
  const { key, prefix, secret_hash } = makeKey(services.crypto, 'bra', id);
  const record = await create(
    services,
    'access_key',
    {
      ...newManaged({ id, name: request.name, now: services.clock.now() }),
      ...{ prefix, secret_hash, role: 'agent', access: 'read_write' },
      ...{ organization: workspace.organization, workspace: workspace.id, k8s_cluster: cluster?.id ?? null },
      ...{ expires_at: request.expires_at ?? null, revoked_at: null, last_used_at: null },
    },
    actor,
  );
  return { record, key, manifest: agentManifest({ key, api_url: apiUrl, key_name: request.name }) };
}

function refusePast(services: ResourceServices, expires: Instant | null | undefined): void {
  if (typeof expires === 'number' && expires <= services.clock.now())
    throw invalid('expires_at', 'must be in the future; leave it out for a key without end.');
}

export type KeyFamily = 'api_key' | 'agent_key';
const isOf = (family: KeyFamily, key: AccessKey): boolean => (key.role === 'agent') === (family === 'agent_key');

export async function findKey(services: ResourceServices, family: KeyFamily, id: string): Promise<AccessKey> {
  const key = await find(services, 'access_key', id);
  if (!isOf(family, key)) throw notFound(`Key ${id}`);
  return key;
}

/** Effective at once for agents' claims, within a minute for what was let in before (DESIGN A2, §6). Twice is the same as once. */
export async function revokeKey(services: ResourceServices, family: KeyFamily, id: string, actor: string): Promise<void> {
  const key = await findKey(services, family, id);
  if (key.revoked_at !== null) return;
  if (family === 'api_key') await refuseLastAdmin(services, key);
  const now = services.clock.now();
  const revoked = await edit(services, 'access_key', id, {
    actor,
    action: 'revoke',
    change: (before) => ({ ...before, revoked_at: now, archived: true, archived_at: now, archived_reason: 'revoked' }),
  });
  if (family === 'agent_key') await services.agentKeys.revoked(revoked);
}

async function refuseLastAdmin(services: ResourceServices, key: AccessKey): Promise<void> {
  const admins = await openAdminKeys(services);
  if (admins.some((other) => other.id !== key.id) || !admins.some((own) => own.id === key.id)) return;
  throw conflict('This is the last key that can change anything; make another with POST /api/v1/api-keys/ first.');
}

/** Keys that can change anything now. */
export async function openAdminKeys(services: Pick<ResourceServices, 'clock' | 'objects'>): Promise<AccessKey[]> {
  const now = services.clock.now();
  const keys = await everyRow(services, 'access_key', { organization: null, path: [] });
  return keys.filter(
    (k) =>
      k.role === 'platform_admin' && k.access === 'read_write' && k.revoked_at === null && (k.expires_at === null || k.expires_at > now),
  );
}
