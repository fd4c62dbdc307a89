import type { LogEvent } from '../../contracts/telemetry/log-events.ts';
import type { AwaitProgressInput } from '../../contracts/workflow/wave.ts';
import { MINUTE, SECOND } from '../../domain/shared/time.ts';
import { OPEN_WAVE } from '../../domain/wave/transitions.ts';
import { operatorConfigId } from './configs.ts';
import type { EngineServices } from './services.ts';
import { fingerprint, readFrame } from './wave-facts.ts';

/** A wake that was sent but did not get through is sent again after this. */
const WAKE_PATIENCE = 15 * SECOND;
/** A wave whose time to look has passed for so long has lost its driver. */
const DRIVER_PATIENCE = MINUTE;

/**
 * DESIGN §4: writes the token, then reads what the plan rested on once more; when it has moved on, the wait ends at once. Whoever changes
 * something commits first and reads the token then, so one of the two always sees the other.
 */
export async function awaitWave(services: EngineServices, input: AwaitProgressInput): Promise<void> {
  await services.engine.setWake(input.block_rollout, { token: input.token, driver: input.execution, seen: input.seen });
  const frame = await readFrame(services, input.block_rollout, services.clock.now());
  const moved = frame === null || frame.state.wave.driver !== input.execution || fingerprint(services, frame) !== input.seen;
  if (moved || Date.parse(input.recheck_at) <= services.clock.now()) await wakeNow(services, input.block_rollout);
}

/** After a committed change: wakes the wave's driver if it waits; several changes within a moment are one wake. */
export const wakeWave = (services: EngineServices, wave: string): Promise<void> =>
  services.soon(`wake ${wave}`, () => wakeNow(services, wave));

/** Only the first who asks sends. What was to be told is committed already, so a wake that cannot be sent is no fault: the tick sends it again. */
async function wakeNow(services: EngineServices, wave: string): Promise<void> {
  const row = await services.engine.wakeRow(wave);
  if (row === null || row.woken_at !== null) return;
  if (!(await services.engine.takeWake(wave, row.token, services.clock.now()))) return;
  await orTheTick(services, 'wake_not_sent', wave, () => services.workflows.sendWake(row.token));
}

/** Step Functions is busy or away: logged, and made up for by the tick from the wave's `recheck_at` (safety layer 3). */
async function orTheTick(services: EngineServices, event: LogEvent, wave: string, send: () => Promise<unknown>): Promise<void> {
  try {
    await send();
  } catch (error) {
    services.log.warn(event, { wave, error: String(error) });
  }
}

/** An execution that lost its wave waits for nothing any more: it is told at once and ends, instead of at its time-out. */
export async function wakeFormerDriver(services: EngineServices, wave: string, driver: string): Promise<void> {
  const row = await services.engine.wakeRow(wave);
  if (row !== null && row.driver !== driver) await wakeNow(services, wave);
}

/** Wakes all waves of a config, e.g. because a limit was changed. */
export async function wakeWavesOf(services: EngineServices, config: string | null): Promise<void> {
  const waves = await services.engine.runningWavesOfConfig(config);
  await Promise.all(waves.map((wave) => wakeWave(services, wave)));
}

/** Operator waves share the gate: a place that one frees may be another's (SPEC §5). */
export const wakeGate = (services: EngineServices): Promise<void> =>
  services.soon('wake gate', () => wakeWavesOf(services, operatorConfigId(services.ids)));

/** After a commit that made the wave due: wakes its driver, or starts an execution when it has none. */
export async function driveWave(services: EngineServices, wave: string): Promise<void> {
  const state = await services.engine.wave(wave);
  if (state === null) return;
  const next = state.wave.generation + 1;
  if (state.wave.driver !== null) await wakeWave(services, wave);
  else await orTheTick(services, 'driver_not_started', wave, () => startDriver(services, wave, next));
}

/** A closed execution keeps its name: then the next generation is tried. */
export async function startDriver(services: EngineServices, wave: string, generation: number): Promise<number> {
  for (let g = generation; ; g++) {
    if ((await services.workflows.startWave({ block_rollout: wave, generation: g })) === 'started' || g >= generation + 5) return g;
  }
}

/** The tick's look at a wave whose recheck_at has passed (safety layer 3): wakes it, sends a lost wake again, replaces a lost driver. */
export async function rescueWave(services: EngineServices, wave: string): Promise<void> {
  const [state, row] = await Promise.all([services.engine.wave(wave), services.engine.wakeRow(wave)]);
  if (state === null) return;
  const now = services.clock.now();
  const { driver, generation, recheck_at, status } = state.wave;
  const lost = driver === null || now - (recheck_at ?? now) >= DRIVER_PATIENCE;
  if (lost && (driver !== null || OPEN_WAVE.includes(status) || state.wave.counters.in_progress > 0)) {
    services.metrics.count('DriversReplaced');
    services.log.warn('driver_replaced', { wave, driver, generation });
    await startDriver(services, wave, generation + 1);
  } else if (row !== null && row.woken_at !== null && now - row.woken_at >= WAKE_PATIENCE) await services.workflows.sendWake(row.token);
  else await wakeWave(services, wave);
}
