import type { ApiClient } from './api-client.ts';
import { isSettled } from './settled.ts';
import type { Screen } from './terminal/live.ts';
import type { Watch, Wave } from './terminal/watch.ts';

/** Looking must cost the machine less than a tenth of its time. */
const REST = 9;
const SHORTEST_PAUSE = 400;
/** Nothing may move between two looks at least so far apart before the rollout counts as done. */
const CALM = 1500;

export interface Following {
  readonly api: ApiClient;
  readonly watch: Watch;
  readonly screen: Screen;
  readonly untilSettled: boolean;
  /** Agents need their time to report for the first time (ms of performance.now). */
  readonly notSettledBefore: number;
  /** Work that no wave shows yet: targets that are still being looked at. */
  readonly preparing: () => Promise<boolean>;
  readonly signal: AbortSignal;
}

/** Shows the rollout until it is stopped, or (`untilSettled`) until nothing moves any more; answers the last waves seen. */
export async function follow({
  api,
  watch,
  screen,
  untilSettled,
  notSettledBefore,
  preparing,
  signal,
}: Following): Promise<readonly Wave[]> {
  let waves: readonly Wave[] = [];
  let calm: Calm | null = null;
  while (!signal.aborted) {
    const started = performance.now();
    try {
      waves = await watch.waves();
      screen.show(await watch.look(waves));
      if (untilSettled && performance.now() >= notSettledBefore) {
        const settled = !(await preparing()) && (await isSettled(api, waves));
        calm = settled ? stillCalm(calm, waves) : null;
        if (calm !== null && performance.now() - calm.since >= CALM) break;
      }
    } catch (error) {
      if (signal.aborted) break;
      calm = null;
      screen.say(`The progress cannot be read at the moment: ${error instanceof Error ? error.message : String(error)}`);
    }
    await pause(Math.max(SHORTEST_PAUSE, (performance.now() - started) * REST), signal);
  }
  if (!signal.aborted) screen.show(await watch.look(waves, true));
  return waves;
}

interface Calm {
  readonly key: string;
  readonly since: number;
}

function stillCalm(before: Calm | null, waves: readonly Wave[]): Calm {
  const key = JSON.stringify(waves.map((wave) => [wave.id, wave.status, wave.total_items, wave.pending_items]));
  return before?.key === key ? before : { key, since: performance.now() };
}

function pause(length: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, Math.min(length, 10_000));
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done);
  });
}
