import { expect, test } from 'vitest';
import type { Board, BoardStore } from '../../lib/app/operator/board.ts';
import { refreshBoard } from '../../lib/app/operator/refresh-board.ts';
import { names, World } from '../support/world.ts';

/** A board that nobody has written yet: everything is read. */
function emptyStore(): BoardStore & { written: Omit<Board, 'revision'> | null } {
  return {
    written: null,
    read: async () => null,
    async publish(_before, next) {
      this.written = next;
      return true;
    },
    touched: async () => [],
    touch: async () => undefined,
    settle: async () => undefined,
  };
}

test('the operator board that ticks keep up to date is the one that a look at everything makes, all through a rollout', async () => {
  const world = await World.start();
  try {
    await world.plainRules();
    await world.config({ max_retries: 1, retry_base_seconds: 120 });
    await world.addClusters(names(12));
    for (const [n, host] of [...world.hosts.values()].entries()) host.behaviour.seconds = 10 + n * 17;
    world.host('c1').behaviour.exit = () => 1;
    world.host('c2').behaviour.exit = (attempt) => (attempt === 1 ? 1 : 0);
    world.host('c3').behaviour.silent = true;
    await world.turns();
    const compared: string[] = [];
    const compare = async (): Promise<void> => {
      await refreshBoard(world.services);
      const empty = emptyStore();
      await refreshBoard({ ...world.services, board: empty });
      const kept = await world.services.board.read();
      const plain = (board: Pick<Board, 'entries' | 'hidden'> | null) => ({ entries: board?.entries, hidden: board?.hidden });
      expect(plain(kept)).toEqual(plain(empty.written));
      compared.push(...(kept?.entries ?? []).map(({ status }) => status));
    };
    await compare();
    await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0', OPERATOR_ROLLOUT_PERCENTAGE: 33 });
    await compare();
    await world.until(
      async () => {
        await compare();
        if (world.now() % 7 === 0) world.host('c3').behaviour.silent = false;
        const waves = await world.waves();
        return waves.length > 0 && waves.every(({ status }) => status === 'completed');
      },
      120 * 60_000,
      20,
    );
    await compare();
    expect(new Set(compared)).toEqual(new Set(['updating', 'retrying', 'gated', 'failed', 'up_to_date']));
  } finally {
    await world.stop();
  }
});
