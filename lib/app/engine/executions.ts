import type { ExecutionEnded } from '../../contracts/workflow/events.ts';
import { isWaveId, parseExecutionName } from '../../contracts/workflow/names.ts';
import type { ContinueAsNewInput, ContinueAsNewOutput, RecordFailureInput, RecordFailureOutput } from '../../contracts/workflow/wave.ts';
import { OPEN_WAVE } from '../../domain/wave/transitions.ts';
import { findConfig } from './config-list.ts';
import { ENQUEUE_PATIENCE } from './enqueue-run.ts';
import type { EngineServices } from './services.ts';
import { startDriver } from './wake.ts';

/** DESIGN §5: before the history is full, or when the definition was changed, the wave goes on in the next generation. */
export async function continueAsNew(services: EngineServices, input: ContinueAsNewInput): Promise<ContinueAsNewOutput> {
  return { generation: await startDriver(services, input.block_rollout, input.generation + 1) };
}

/** What a Catch hands over goes into the log, with the wave that was driven; the wave itself is picked up by execution-watch or the tick. */
export async function recordFailure(services: EngineServices, input: RecordFailureInput): Promise<RecordFailureOutput> {
  const { Error: error, Cause: cause } = input.failure;
  services.log.error('courier_failed', { execution: input.execution, error, cause });
  return { cause: `${error}: ${cause}`.slice(0, 1_000) };
}

/** Safety layer 2: an execution that ended badly is replaced only if the table says that it still drives something. */
export async function executionWatch(services: EngineServices, ended: ExecutionEnded): Promise<void> {
  if (ended.status === 'SUCCEEDED' || ended.error === 'WaveBlocked' || ended.error === 'InvalidInput') return;
  services.metrics.count('ExecutionsFailed');
  services.log.warn('execution_failed', { execution: ended.execution, status: ended.status, error: ended.error });
  const name = parseExecutionName(ended.execution);
  if (name?.machine === 'enqueue') return restartEnqueue(services, name.enqueue_run);
  for (const wave of name === null ? await wavesOfInput(services, ended.input) : [name.block_rollout]) {
    const state = await services.engine.wave(wave);
    if (state === null) continue;
    // Killed before its first write, it was still the one that should have driven the wave.
    const overtakes = name?.machine === 'wave' && name.generation > state.wave.generation && OPEN_WAVE.includes(state.wave.status);
    const coming = overtakes ? name.generation : 0;
    if (state.wave.driver !== ended.execution && coming === 0) continue;
    services.metrics.count('DriversReplaced');
    services.log.warn('driver_replaced', { wave, driver: ended.execution, status: ended.status, error: ended.error });
    await startDriver(services, wave, Math.max(state.wave.generation, coming) + 1);
  }
}

/** The console names executions by itself: what this one may have driven follows from what was typed (SPEC §10). */
async function wavesOfInput(services: EngineServices, text: string | null): Promise<readonly string[]> {
  const { block_rollout, rollout_config } = typedInput(text);
  if (typeof block_rollout === 'string') return isWaveId(block_rollout.toLowerCase()) ? [block_rollout.toLowerCase()] : [];
  const config = typeof rollout_config === 'string' ? await findConfig(services, rollout_config) : null;
  return config === null ? [] : services.engine.runningWavesOfConfig(config.id);
}

function typedInput(text: string | null): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text ?? '{}');
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** An enqueue run that was cut short goes on: what it had made is found again by its conditions. */
export async function restartEnqueue(services: EngineServices, id: string): Promise<void> {
  const run = await services.engine.enqueueRun(id);
  if (run === null || run.status === 'done') return;
  const generation = run.generation + 1;
  const look_again_at = services.clock.now() + ENQUEUE_PATIENCE;
  if (!(await services.engine.putEnqueueRun({ ...run, generation, look_again_at }, run))) return;
  for (let g = generation; g < generation + 5; g++)
    if ((await services.workflows.startEnqueue({ enqueue_run: id, generation: g })) === 'started') return;
}
