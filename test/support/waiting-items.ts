import { blankItem } from '../../lib/app/engine/blank-item.ts';
import { operatorConfigId } from '../../lib/app/engine/configs.ts';
import { newWave } from '../../lib/app/engine/join-wave.ts';
import { newBlock } from '../../lib/app/engine/new-block.ts';
import { OPERATOR_BLOCK } from '../../lib/domain/shared/fleet.ts';
import type { Item } from '../../lib/domain/shared/rollout.ts';
import type { World } from './world.ts';

/** A wave of the operator with as many waiting items as a test wants, all for one block of host c1: what counts is how many wait. */
export class WaitingItems {
  readonly wave: string;
  readonly #world: World;
  readonly #block: string;
  #total = 0;

  private constructor(world: World, wave: string, block: string) {
    this.#world = world;
    this.wave = wave;
    this.#block = block;
  }

  static async start(world: World): Promise<WaitingItems> {
    const { services } = world;
    const host = world.host('c1');
    const config = await services.objects.get('block_rollout_config', operatorConfigId(services.ids));
    const cluster = await services.objects.get('k8s_cluster', host.id);
    const workspace = await services.objects.get('workspace', host.workspace);
    const organization = await services.objects.get('organization', host.organization);
    if (cluster === null || workspace === null || organization === null || config === null) throw new Error('the fleet is not complete');
    const block = newBlock(services, config, { target: { cluster, workspace, organization }, app: null }, world.now());
    const id = services.ids.fresh();
    const kind = { config, block_name: OPERATOR_BLOCK, owner_kind: null, target_version: '2.0.0', template_revision: 1, reason: null };
    const wave = newWave({ ...kind, id, quiescence_seconds: 0, enqueue_run: null, source: 'scheduler' }, world.now());
    await services.engine.commit({ waves: [{ id, create: wave }] });
    return new WaitingItems(world, id, (await services.objects.create('block', block)).id);
  }

  /** Adds items, in this calendar, until there are so many. */
  async growTo(size: number, calendar?: string): Promise<void> {
    while (this.#total < size) {
      const n = Math.min(90, size - this.#total);
      const items = Array.from({ length: n }, () => this.#item(calendar));
      await this.#world.services.engine.commit({ items: items.map((after) => ({ before: null, after })) });
      this.#total += n;
    }
  }

  #item(calendar: string | undefined): Item {
    const host = this.#world.host('c1');
    const item = blankItem(this.#world.services, this.#world.now());
    return {
      ...item,
      block: this.#block,
      block_name: OPERATOR_BLOCK,
      organization: host.organization,
      workspace: host.workspace,
      k8s_cluster: host.id,
      rollout: this.wave,
      rendered_target_version: '2.0.0',
      calendar: calendar ?? item.calendar,
    };
  }
}
