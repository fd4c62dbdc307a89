import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AppError } from '../../../lib/app/errors.ts';
import type { ObjectStore } from '../../../lib/app/ports.ts';
import { updateCluster } from '../../../lib/app/resources/clusters.ts';
import { createOrganization, updateOrganization } from '../../../lib/app/resources/organizations.ts';
import { updateSettings } from '../../../lib/app/resources/system-config.ts';
import { type Api, startApi } from '../../support/api.ts';
import { makeFleet } from '../../support/api-fleet.ts';

let api: Api;
let fleet: Awaited<ReturnType<typeof makeFleet>>;
beforeAll(async () => {
  api = await startApi();
  fleet = await makeFleet(api);
});
afterAll(() => api.stop());

const resources = () => api.services.resources;
const patchOf = (free: Record<string, string>) => ({ known: {}, free, allow_downgrade: false, expected_targets: undefined });

async function auditOf(organization: string | null, object_id: string) {
  const { objects } = resources();
  const { ids } = await objects.listIds('audit_event', { organization, path: [] }, { limit: 1000 });
  return [...(await objects.getMany('audit_event', ids)).values()].filter((event) => event.object_id === object_id);
}

describe('changes at the same moment', () => {
  it('of different fields both stay, each with its own audit', async () => {
    const id = fleet.cluster.id;
    await Promise.all([
      updateCluster(resources(), id, { display_name: 'Frankfurt' }, 'ann'),
      updateCluster(resources(), id, { labels: { region: 'fra' } }, 'bob'),
      updateCluster(resources(), id, { rollout_override: { version_override: '1.2.3' } }, 'cyd'),
    ]);
    const cluster = await resources().objects.get('k8s_cluster', id, true);
    expect(cluster).toMatchObject({
      display_name: 'Frankfurt',
      labels: { region: 'fra' },
      rollout_override: { version_override: '1.2.3' },
    });
    const events = (await auditOf(fleet.organization.id, id)).filter((event) => event.action === 'update');
    expect(events.map(({ actor, before, after }) => [actor, before, after]).sort()).toEqual([
      ['ann', { display_name: null }, { display_name: 'Frankfurt' }],
      ['bob', { labels: {} }, { labels: { region: 'fra' } }],
      [
        'cyd',
        { rollout_override: { paused: false, pause_reason: null, paused_until: null, version_override: null } },
        { rollout_override: { paused: false, pause_reason: null, paused_until: null, version_override: '1.2.3' } },
      ],
    ]);
  });

  it('under one name make one object; the others are told which', async () => {
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => createOrganization(resources(), { name: 'twin' }, 'test')));
    const [made, ...more] = results.flatMap((r) => (r.status === 'fulfilled' ? [r.value] : []));
    expect(more).toEqual([]);
    const refused = results.flatMap((r) => (r.status === 'rejected' ? [r.reason as AppError] : []));
    expect(refused.length).toBe(19);
    for (const error of refused)
      expect(error).toMatchObject({ kind: 'conflict', conflict: { id: made?.id, url: `/api/v1/organizations/${made?.id}/` } });
    expect((await auditOf(made?.id ?? null, made?.id ?? '')).length).toBe(1);
  });

  it('of different settings both stay', async () => {
    await Promise.all(['one', 'two', 'three'].map((key) => updateSettings(resources(), patchOf({ [key]: key }), 'test')));
    expect((await resources().settings.read()).free).toMatchObject({ one: 'one', two: 'two', three: 'three' });
  });

  it('that always come second end in a conflict, not in a loop', async () => {
    const { objects } = resources();
    const outrun: ObjectStore = {
      get: objects.get.bind(objects),
      getMany: objects.getMany.bind(objects),
      getSome: objects.getSome.bind(objects),
      create: objects.create.bind(objects),
      listIds: objects.listIds.bind(objects),
      count: objects.count.bind(objects),
      replace: async (type, before, after, also) => {
        await objects.replace(type, before, { ...before, annotations: { by: 'somebody faster' } });
        return objects.replace(type, before, after, also);
      },
    };
    const late = updateOrganization({ ...resources(), objects: outrun }, fleet.organization.id, { display_name: 'late' }, 'test');
    await expect(late).rejects.toMatchObject({ kind: 'stale' });
    await expect(late).rejects.toBeInstanceOf(AppError);
    expect((await objects.get('organization', fleet.organization.id, true))?.display_name).toBeNull();
    expect((await auditOf(fleet.organization.id, fleet.organization.id)).map((event) => event.action)).toEqual(['create']);
  });
});
