import type { Wave } from '../../domain/shared/rollout.ts';
import { statesBefore } from '../../domain/shared/state-machine.ts';
import { blockReason } from '../../domain/wave/brake.ts';
import { baseOf } from '../../domain/wave/counters.ts';
import { CANARY_REVIEW, WAVE_TRANSITIONS, type WaveEvent, waveTransition } from '../../domain/wave/transitions.ts';
import { conflict, notFound, stale } from '../errors.ts';
import { auditOf } from './audit.ts';
import { readRuling, rulesOf } from './configs.ts';
import { waveNotice } from './notices.ts';
import { openKeyOf } from './open-key.ts';
import type { EngineChange, WaveChange, WaveState } from './ports.ts';
import type { EngineServices } from './services.ts';
import { stopRunning } from './stop-running.ts';
import { driveWave } from './wake.ts';

const TRIES = 8;

/** SPEC §3.9: no new starts, running work finishes. */
export const pauseWave = (services: EngineServices, id: string, reason: string | null, actor: string): Promise<Wave> =>
  change(services, id, 'pause', actor, () => ({ set: { status: 'paused', status_reason: reason } }));

/**
 * SPEC §3.5, §3.9, §3.12: a paused wave goes on; a blocked one only when its failure rate is no longer above the threshold. Resuming after the
 * first batch is the review that it waited for.
 */
export const resumeWave = (services: EngineServices, id: string, actor: string): Promise<Wave> =>
  change(services, id, 'resume', actor, async ({ wave }) => {
    if (wave.status === 'blocked') await refuseWhileAbove(services, wave);
    return { set: { status: 'active', status_reason: null, ...(wave.status_reason === CANARY_REVIEW ? { canary_reviewed: true } : {}) } };
  });

/** SPEC §3.9: waiting items end skipped (the driver does that), agents are asked to stop what runs. */
export async function cancelWave(services: EngineServices, id: string, actor: string): Promise<Wave> {
  const wave = await change(services, id, 'cancel', actor, (state, now) => {
    const key = openKeyOf(state.wave);
    return { set: { status: 'cancelled', status_reason: null, completed_at: now }, ...(key === null ? {} : { close: key }) };
  });
  await stopRunning(services, wave);
  return wave;
}

type Part = Pick<WaveChange, 'set' | 'close' | 'open'>;

/** The same verb twice is the same: a wave that is there already is answered as it is. */
const RESULT = { pause: 'paused', resume: 'active', cancel: 'cancelled' } as const;
type Verb = keyof typeof RESULT;

async function change(
  services: EngineServices,
  id: string,
  event: Verb & WaveEvent,
  actor: string,
  part: (state: WaveState, now: number) => Part | Promise<Part>,
): Promise<Wave> {
  for (let round = 1; round <= TRIES; round++) {
    const state = await services.engine.wave(id);
    if (state === null) throw notFound(`Wave ${id}`);
    if (state.wave.status === RESULT[event]) return state.wave;
    const allowed = waveTransition(state.wave.status, event);
    if (!allowed.ok) throw conflict(`Wave ${state.wave.batch_identifier}: ${allowed.detail}.`);
    const now = services.clock.now();
    const committed = await services.engine.commit(changeOf(services, state, event, actor, await part(state, now), now));
    if (!committed.ok) continue;
    services.log.info('wave_changed', { wave: id, from: state.wave.status, to: RESULT[event], actor });
    await driveWave(services, id);
    return (await services.engine.wave(id))?.wave ?? state.wave;
  }
  throw stale('The wave is being changed by somebody else; try again.');
}

function changeOf(services: EngineServices, { wave }: WaveState, event: Verb, actor: string, part: Part, now: number): EngineChange {
  const from = statesBefore(WAVE_TRANSITIONS, event).filter((s) => s === wave.status);
  const after = { status: part.set?.status ?? wave.status, reason: part.set?.status_reason ?? null };
  return {
    waves: [{ id: wave.id, status_in: from, ...part, set: { ...part.set, recheck_at: now } }],
    audits: [
      auditOf(
        services,
        actor,
        `wave.${event}`,
        { type: 'block_rollout', id: wave.id, organization: null },
        { before: { status: wave.status, reason: wave.status_reason }, after },
        now,
      ),
    ],
    ...(event === 'cancel' ? { notices: [waveNotice(services, 'wave_cancelled', wave, `was cancelled by ${actor}.`, now)] } : {}),
  };
}

async function refuseWhileAbove(services: EngineServices, wave: Wave): Promise<void> {
  const rules = rulesOf(await readRuling(services, wave.rollout_config));
  if (blockReason(wave.counters, rules) === null) return;
  const { failed } = wave.counters;
  throw conflict(
    `${failed} of ${baseOf(wave.counters)} items failed and ${rules.failure_threshold_percent} % are allowed: ` +
      'retry or skip failed items, or cancel the wave.',
  );
}
