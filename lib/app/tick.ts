import type { Gauges } from '../contracts/telemetry/metrics.ts';
import { SECOND } from '../domain/shared/time.ts';
import { agentsTick } from './agents/tick.ts';
import { measureWaves } from './engine/measure.ts';
import { engineTick } from './engine/tick.ts';
import { resumeImports } from './import/advance.ts';
import { outboxTick } from './notify/start-outbox.ts';
import type { Services } from './services.ts';

/** A tick ends well before the next one and before its function's time is over. */
const TIME_BUDGET = 20 * SECOND;

/** Safety layer 3 (DESIGN §5): each part may be doubled, missed or cut short; a fault in one leaves the others alone. */
export async function minuteTick(services: Services): Promise<void> {
  let gauges: Gauges = {};
  const measuring = (part: () => Promise<Gauges>) => async () => {
    gauges = { ...gauges, ...(await part()) };
  };
  const end = services.clock.now() + TIME_BUDGET;
  const parts: Readonly<Record<string, () => Promise<unknown>>> = {
    agents: measuring(() => agentsTick(services.engine, services.agents, () => services.clock.now() < end)),
    engine: () => engineTick(services.engine),
    notices: measuring(() => outboxTick(services.notices)),
    imports: () => resumeImports(services.imports, () => services.clock.now() < end),
    // Last: what it measures is what the tick leaves behind.
    waves: measuring(() => measureWaves(services.engine)),
    gauges: () => keep(services, gauges),
  };
  for (const [part, work] of Object.entries(parts)) {
    try {
      await work();
    } catch (error) {
      services.metrics.count('TickFailures');
      services.log.error('tick_part_failed', { part, error: String(error) });
    }
  }
  services.metrics.count('Ticks');
}

/** For CloudWatch, and as one row for the page of numbers. */
async function keep(services: Services, gauges: Gauges): Promise<void> {
  services.metrics.measured(gauges);
  await services.gauges.write({ at: services.clock.now(), gauges });
}
