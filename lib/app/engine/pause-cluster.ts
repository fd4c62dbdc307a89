import type { K8sCluster, RolloutOverride } from '../../domain/shared/fleet.ts';
import type { Instant } from '../../domain/shared/time.ts';
import { AppError, invalid, notFound } from '../errors.ts';
import type { Also } from '../ports.ts';
import { auditOf } from './audit.ts';
import type { EngineServices } from './services.ts';
import { touchCluster } from './touch.ts';
import { unparkCluster } from './unpark.ts';
import { wakeGate } from './wake.ts';

const TRIES = 5;

/** SPEC §5: every block of the cluster waits; what runs finishes. It resumes by itself at `until`. */
export async function pauseCluster(
  services: EngineServices,
  id: string,
  options: { reason: string | null; until: Instant | null },
  actor: string,
): Promise<void> {
  if (options.until !== null && options.until <= services.clock.now())
    throw invalid('until', 'The end of a pause lies in the future; leave it out for a pause without end.');
  await override(services, id, 'cluster.pause', actor, (o) => ({
    ...o,
    paused: true,
    pause_reason: options.reason,
    paused_until: options.until,
  }));
  await wakeGate(services);
}

export async function resumeCluster(services: EngineServices, id: string, actor: string): Promise<void> {
  await override(services, id, 'cluster.resume', actor, (o) => ({ ...o, paused: false, pause_reason: null, paused_until: null }));
  await resumed(services, id);
}

/** The cluster's items are looked at, and the gate has a place more (SPEC §5). */
export async function resumed(services: EngineServices, id: string): Promise<void> {
  const cluster = await services.objects.get('k8s_cluster', id);
  if (cluster !== null) await unparkCluster(services, cluster, ['cluster_paused']);
  await wakeGate(services);
}

async function override(
  services: EngineServices,
  id: string,
  action: string,
  actor: string,
  change: (o: RolloutOverride) => RolloutOverride,
): Promise<void> {
  for (let round = 1; ; round++) {
    const before = await services.objects.get('k8s_cluster', id, true);
    if (before === null || before.archived) throw notFound(`Cluster ${id}`);
    const after: K8sCluster = { ...before, rollout_override: change(before.rollout_override) };
    const object = { type: 'k8s_cluster', id, organization: before.organization };
    const values = { before: { ...before.rollout_override }, after: { ...after.rollout_override } };
    const also: Also[] = [{ kind: 'audit', event: auditOf(services, actor, action, object, values, services.clock.now()) }];
    try {
      await services.objects.replace('k8s_cluster', before, after, also);
      await touchCluster(services, id);
      return;
    } catch (error) {
      if (!(error instanceof AppError) || error.kind !== 'stale' || round >= TRIES) throw error;
    }
  }
}
