import { SECOND } from '../domain/shared/time.ts';
import { agentsTick } from './agents/tick.ts';
import { engineTick } from './engine/tick.ts';
import { resumeImports } from './import/advance.ts';
import type { Services } from './services.ts';

/** A tick ends well before the next one and before its function's time is over. */
const TIME_BUDGET = 20 * SECOND;

/** Safety layer 3 (DESIGN §5): each part may be doubled, missed or cut short; a fault in one leaves the others alone. */
export async function minuteTick(services: Services): Promise<void> {
  const end = services.clock.now() + TIME_BUDGET;
  const parts: Readonly<Record<string, () => Promise<unknown>>> = {
    agents: () => agentsTick(services.engine, services.agents, () => services.clock.now() < end),
    engine: () => engineTick(services.engine),
    imports: () => resumeImports(services.imports, () => services.clock.now() < end),
  };
  for (const [part, work] of Object.entries(parts)) {
    try {
      await work();
    } catch (error) {
      services.log.error('tick_part_failed', { part, error: String(error) });
    }
  }
}
