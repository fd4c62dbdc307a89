import { isWaveId, waveExecutionName } from '../../contracts/workflow/names.ts';
import { MAX_SAID, type ResolveInput, type ResolveOutput } from '../../contracts/workflow/wave.ts';
import type { BlockRolloutConfig } from '../../domain/shared/rollout.ts';
import { OPEN_WAVE } from '../../domain/wave/transitions.ts';
import { findConfig } from './config-list.ts';
import { demandOf, raiseDemand } from './demands.ts';
import type { EngineServices } from './services.ts';
import { startDriver } from './wake.ts';

const EXPECTED = 'Expected {"rollout_config": "<id or name>"} or {"block_rollout": "<id of a wave>"}.';

const invalid = (cause: string): ResolveOutput => ({ next: 'invalid', cause });

/**
 * SPEC §10: what an execution was started with becomes the wave that it drives. For a config with one open wave it drives that one; with several
 * it starts one each; with none it starts an enqueue run. Anything else fails with a cause that says what to do.
 */
export async function resolveWave(services: EngineServices, { input, execution }: ResolveInput): Promise<ResolveOutput> {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return invalid(`The input is not an object. ${EXPECTED}`);
  const { block_rollout, rollout_config, generation, ...rest } = input as Record<string, unknown>;
  const unknown = Object.keys(rest);
  if (unknown.length > 0) return invalid(`The input has unknown fields: ${unknown.join(', ')}. ${EXPECTED}`);
  if (typeof block_rollout === 'string' && rollout_config === undefined) return forWave(services, block_rollout, generation);
  if (typeof rollout_config === 'string' && block_rollout === undefined) return forConfig(services, rollout_config, execution);
  return invalid(`The input names neither a wave nor a rollout config as text, or both. ${EXPECTED}`);
}

async function forWave(services: EngineServices, id: string, generation: unknown): Promise<ResolveOutput> {
  const state = isWaveId(id.toLowerCase()) ? await services.engine.wave(id.toLowerCase()) : null;
  if (state === null) return invalid(`There is no wave ${id}. GET /api/v1/block-rollouts/ lists them.`);
  const { wave } = state;
  const busy = OPEN_WAVE.includes(wave.status) || wave.counters.in_progress + wave.counters.pending > 0;
  if (!busy) return invalid(`Wave ${wave.batch_identifier} is ${wave.status}; there is nothing to drive. Retry its failed items first.`);
  const given = Number.isInteger(generation) && Number(generation) > 0 ? Number(generation) : null;
  return { next: 'plan', block_rollout: wave.id, generation: given ?? wave.generation + 1, turn: 0, events: 0 };
}

async function forConfig(services: EngineServices, text: string, execution: string): Promise<ResolveOutput> {
  const config = await findConfig(services, text);
  if (config === null) return invalid(`There is no rollout config "${text}". GET /api/v1/block-rollout-configs/ lists them.`);
  if (config.kind === 'config') return invalid(`Rollout config "${config.name}" holds default settings (kind config); it starts nothing.`);
  if (config.archived) return invalid(`Rollout config "${config.name}" is archived; name another one.`);
  if (!config.active) return invalid(`Rollout config "${config.name}" is inactive. Set "active" to true, then start again.`);
  const open = await openWaves(services, config.id);
  const [first] = open;
  if (open.length === 1 && first !== undefined)
    return { next: 'plan', block_rollout: first.id, generation: first.generation + 1, turn: 0, events: 0 };
  if (open.length > 1) return startEach(services, config.name, open);
  return enqueueFor(services, config, execution);
}

async function startEach(
  services: EngineServices,
  name: string,
  open: readonly { id: string; generation: number }[],
): Promise<ResolveOutput> {
  const started: string[] = [];
  for (const wave of open) {
    const generation = await startDriver(services, wave.id, wave.generation + 1);
    started.push(waveExecutionName(wave.id, generation));
  }
  const said = `Rollout config "${name}" has ${open.length} open waves; each has got an execution of its own: ${started.join(', ')}.`;
  return { next: 'started_others', waves: open.map((w) => w.id), said: said.slice(0, MAX_SAID) };
}

/** Named after this execution: a step that is tried again asks for the same work. */
async function enqueueFor(services: EngineServices, config: BlockRolloutConfig, execution: string): Promise<ResolveOutput> {
  const demand = {
    ...demandOf(services, {
      rollout_config: config.id,
      kind: config.trigger_type === 'schedule' ? 'schedule' : 'reconcile',
      requested_by: 'console',
    }),
    id: services.ids.child(config.id, 'console', execution),
  };
  await raiseDemand(services, demand);
  const said = `Rollout config "${config.name}" has no open wave. Enqueue run ${demand.id} looks at its targets now and opens a wave if there is something to do.`;
  return { next: 'enqueued', enqueue_run: demand.id, said };
}

async function openWaves(services: EngineServices, config: string): Promise<{ id: string; generation: number }[]> {
  const states = await Promise.all((await services.engine.runningWavesOfConfig(config)).map((id) => services.engine.wave(id)));
  return states.flatMap((s) => (s !== null && OPEN_WAVE.includes(s.wave.status) ? [{ id: s.wave.id, generation: s.wave.generation }] : []));
}
