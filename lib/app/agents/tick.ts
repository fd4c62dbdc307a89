import type { Gauges } from '../../contracts/telemetry/metrics.ts';
import type { EngineServices } from '../engine/services.ts';
import { refreshBoard } from '../operator/refresh-board.ts';
import { everyAgent } from './every-agent.ts';
import type { AgentServices } from './services.ts';
import { sweepRuns } from './sweep-runs.ts';
import { watchAgents } from './watch-agents.ts';

/**
 * The agents' part of the minute tick. The look at all agents comes first: it may say that no deadline fires now; the operator board is made
 * of the same look.
 */
export async function agentsTick(engine: EngineServices, agents: AgentServices, more: () => boolean): Promise<Gauges> {
  let gauges: Gauges = {};
  try {
    const all = await everyAgent(engine);
    gauges = await watchAgents(engine, agents.watch, all);
    await refreshBoard(engine, all);
  } catch (error) {
    engine.metrics.count('TickFailures');
    engine.log.error('agents_not_watched', { error: String(error) });
  }
  const [watch, settings] = await Promise.all([agents.watch.read(), engine.settings.read()]);
  await sweepRuns(agents, watch, settings, more);
  return gauges;
}
