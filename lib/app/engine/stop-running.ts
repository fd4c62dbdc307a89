import type { ActionRun, Wave } from '../../domain/shared/rollout.ts';
import type { EngineServices } from './services.ts';
import { itemsOf } from './wave-items.ts';

/** SPEC §3.9: asks the agents of a cancelled wave to stop; what they report is kept. */
export async function stopRunning(services: EngineServices, wave: Wave): Promise<void> {
  for await (const items of itemsOf(services, wave, (item) => item.status === 'in_progress')) {
    const runs = await services.engine.runs(items.flatMap((item) => item.action_run ?? []));
    await Promise.all([...runs.values()].map((run) => requestStop(services, run)));
  }
}

export async function requestStop(services: EngineServices, run: ActionRun): Promise<void> {
  if (run.phase === 'ended' || run.cancel_requested) return;
  await services.engine.commit({
    runs: [{ before: run, after: { ...run, cancel_requested: true, updated_at: services.clock.now() } }],
    inbox: [{ agent: run.agent, cancel: [run.id] }],
  });
}
