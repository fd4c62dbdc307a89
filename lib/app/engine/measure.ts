import type { GaugeName, Gauges } from '../../contracts/telemetry/metrics.ts';
import type { Wave, WaveStatus } from '../../domain/shared/rollout.ts';
import { allConfigs } from './config-list.ts';
import type { EngineServices } from './services.ts';

/** Most waves whose counters one tick reads; a platform has a few open at a time. */
const MOST_WAVES = 200;

const BY_STATUS: { readonly [S in WaveStatus]?: GaugeName } = {
  active: 'WavesActive',
  paused: 'WavesPaused',
  blocked: 'WavesBlocked',
};

/** SPEC §11: waves and items by status, from the counters of the waves that are not over; no item is read. */
export async function measureWaves(services: EngineServices): Promise<Gauges> {
  const configs = [null, ...(await allConfigs(services)).map((config) => config.id)];
  const ids = (await Promise.all(configs.map((config) => services.engine.runningWavesOfConfig(config)))).flat();
  const states = await Promise.all(ids.slice(0, MOST_WAVES).map((id) => services.engine.wave(id)));
  return waveGauges(states.flatMap((state) => (state === null ? [] : [state.wave])));
}

function waveGauges(waves: readonly Wave[]): Gauges {
  const sum = (of: (wave: Wave) => number): number => waves.reduce((total, wave) => total + of(wave), 0);
  const statuses = Object.entries(BY_STATUS).map(([status, gauge]) => [gauge, sum((wave) => (wave.status === status ? 1 : 0))]);
  return {
    ...Object.fromEntries(statuses),
    ItemsPending: sum(({ counters }) => counters.pending),
    ItemsInProgress: sum(({ counters }) => counters.in_progress),
    ItemsCompleted: sum(({ counters }) => counters.done),
    ItemsFailed: sum(({ counters }) => counters.failed),
    ItemsSkipped: sum(({ counters }) => counters.skipped),
  };
}
