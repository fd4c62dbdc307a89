import { resumeCluster } from './pause-cluster.ts';
import type { EngineServices } from './services.ts';

/** SPEC §1: a cluster whose `paused_until` has passed resumes by itself; conditions see that at once, counters and waiting items here. */
export async function endPauses(services: EngineServices): Promise<void> {
  for (const cluster of await services.engine.duePauses(services.clock.now(), 500)) await resumeCluster(services, cluster, 'end of pause');
}
