import type { BlockRolloutConfig, Wave } from '../../domain/shared/rollout.ts';
import type { Instant } from '../../domain/shared/time.ts';
import { OPEN_WAVE } from '../../domain/wave/transitions.ts';
import { newManaged } from '../managed.ts';
import type { Notice } from '../ports.ts';
import { waveNotice } from './notices.ts';
import { openKeyOf } from './open-key.ts';
import type { EngineServices } from './services.ts';

/** What the items of a wave have in common. */
export interface WaveKind {
  readonly config: BlockRolloutConfig | null;
  readonly block_name: string;
  readonly owner_kind: string | null;
  readonly target_version: string | null;
  readonly template_revision: number;
  readonly quiescence_seconds: number;
}

export interface NewWave extends WaveKind {
  readonly id: string;
  readonly source: 'scheduler' | 'manual';
  readonly enqueue_run: string | null;
  readonly reason: string | null;
}

/**
 * The open wave that an item of this kind joins, or a new one (SPEC §3.1). Two that open one at once get the same. null = no new one is opened,
 * because what asks for it was decided from older settings (SPEC §2.7).
 */
export async function joinWave(services: EngineServices, kind: NewWave, settings_revision: number): Promise<string | null> {
  const now = services.clock.now();
  const wave = newWave(kind, now);
  const key = openKeyOf(wave);
  if (key === null) throw new Error('a manual wave is joined by nobody');
  for (;;) {
    const open = await services.engine.openWave(key);
    if (open !== null) return open;
    const paused = await replacesPaused(services, wave);
    const first: Wave = paused ? { ...wave, status: 'paused', status_reason: 'replaces_paused_wave' } : wave;
    const made = await services.engine.createWave(first, key, settings_revision, waveOpened(services, first, now));
    if (made === 'outdated') return null;
    if (made === 'created') {
      services.log.info('wave_opened', { wave: wave.id, rollout_config: wave.rollout_config, target_version: wave.target_version });
      return wave.id;
    }
  }
}

export const waveOpened = (services: Pick<EngineServices, 'ids'>, wave: Wave, now: Instant): Notice =>
  waveNotice(services, 'wave_opened', wave, 'was opened.', now);

/** SPEC §2.7: a wave that replaces a paused one starts paused. */
async function replacesPaused(services: EngineServices, wave: Wave): Promise<boolean> {
  const running = await services.engine.runningWaves(wave.rollout_config, wave.owner_kind);
  const states = await Promise.all(running.map((id) => services.engine.wave(id)));
  return states.some((s) => s?.wave.status === 'paused' && s.wave.source !== 'manual' && OPEN_WAVE.includes(s.wave.status));
}

export function newWave(kind: NewWave, now: Instant): Wave {
  const { id } = kind;
  const label = `${kind.config?.name ?? 'manual'}-${kind.target_version ?? kind.config?.action_name ?? kind.block_name.split('/').at(-1)}`;
  return {
    ...newManaged({ id, name: '', now }),
    version: 1,
    batch_identifier: `${label.slice(0, 51)}-${id.slice(-12)}`,
    rollout_config: kind.config?.id ?? null,
    block_name: kind.block_name,
    owner_kind: kind.owner_kind,
    target_version: kind.target_version,
    template_revision: kind.template_revision,
    source: kind.source,
    reason: kind.reason,
    status: 'active',
    status_reason: null,
    counters: { total: 0, done: 0, in_progress: 0, pending: 0, failed: 0, skipped: 0 },
    quiescence_seconds: kind.quiescence_seconds,
    last_item_added_at: null,
    canary_reviewed: false,
    enqueue_runs: kind.enqueue_run === null ? [] : [kind.enqueue_run],
    driver: null,
    generation: 0,
    recheck_at: now,
    completed_at: null,
  };
}
