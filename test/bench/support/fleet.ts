import { systemKeyCrypto } from '../../../lib/adapters/system/key-crypto.ts';
import { derivedId } from '../../../lib/app/derived-ids.ts';
import { makeKey } from '../../../lib/app/keys/format.ts';
import { newManaged } from '../../../lib/app/managed.ts';
import type { Services } from '../../../lib/app/services.ts';
import { type Managed, OPERATOR_APP } from '../../../lib/domain/shared/fleet.ts';

/** One workspace with so many clusters and a key for their agents. */
export async function addFleet({ engine: { objects, ids, clock } }: Services, count: number): Promise<{ token: string; names: string[] }> {
  const now = clock.now();
  const managed = (id: string, name: string) => newManaged({ id, name, now });
  const organization = derivedId.organization(ids, 'acme');
  const workspace = derivedId.workspace(ids, organization, 'prod');
  await objects.create('organization', {
    ...managed(organization, 'acme'),
    criticality: null,
    contacts: ['ops@acme.example'],
    maintenance_window: null,
  });
  await objects.create('workspace', {
    ...managed(workspace, 'prod'),
    organization,
    criticality: null,
    contacts: [],
    maintenance_window: null,
  });
  const names = Array.from({ length: count }, (_, i) => `c${i}`);
  const add = async (name: string): Promise<void> => {
    const id = derivedId.cluster(ids, workspace, name);
    const rollout_override = { paused: false, pause_reason: null, paused_until: null, version_override: null };
    await objects.create('k8s_cluster', { ...managed(id, name), organization, workspace, active: true, rollout_override });
    await objects.create('k8s_app', {
      ...managed(derivedId.app(ids, id, OPERATOR_APP), OPERATOR_APP),
      organization,
      workspace,
      k8s_cluster: id,
      block: null,
      installed_version: '0.33.0',
      last_reconciled: null,
      state: null,
      excluded_from_downtime_until: null,
    });
  };
  const left = [...names];
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (let name = left.shift(); name !== undefined; name = left.shift()) await add(name);
    }),
  );
  return { token: await agentKey({ objects, ids, managed, organization, workspace }), names };
}

async function agentKey(of: {
  objects: Services['engine']['objects'];
  ids: Services['ids'];
  managed: (id: string, name: string) => Managed;
  organization: string;
  workspace: string;
}): Promise<string> {
  const id = of.ids.fresh();
  const { key, prefix, secret_hash } = makeKey(systemKeyCrypto, 'bra', id);
  await of.objects.create('access_key', {
    ...of.managed(id, 'agents'),
    prefix,
    secret_hash,
    role: 'agent',
    access: 'read_write',
    organization: of.organization,
    workspace: of.workspace,
    k8s_cluster: null,
    expires_at: null,
    revoked_at: null,
    last_used_at: null,
  });
  return key;
}
