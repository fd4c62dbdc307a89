import { afterEach, expect, test } from 'vitest';
import { driveWave } from '../../lib/app/engine/wake.ts';
import { updateOrganization } from '../../lib/app/resources/organizations.ts';
import { createWindow, updateWindow } from '../../lib/app/resources/windows.ts';
import { MINUTE } from '../../lib/domain/shared/time.ts';
import { WaitingItems } from '../support/waiting-items.ts';
import { line, names, World } from '../support/world.ts';

/** DESIGN A6, counted in the units that the table itself reports: what waits for a window costs nothing, however much it is. */

let world: World;
afterEach(() => world.stop());

const total = (): number => world.runtime.table.units.total.read + world.runtime.table.units.total.write;
const ofPlans = (): number => world.runtime.table.units.byOperation.get('plan')?.read ?? 0;

/** The clock begins at midnight UTC. */
const NIGHT = { time_zone: 'UTC', time_slots: [{ start: '20:00', end: '22:00' }] };
const NOW_OPEN = { time_slots: [{ start: '00:00', end: '08:00' }] };

/** The gate is shut, so that nothing starts when the window opens: what is counted is looking, not starting. */
async function shut(): Promise<{ items: WaitingItems; calendar: string; window: string }> {
  world = await World.start({ tickMs: 5 * MINUTE });
  await world.plainRules();
  await world.addClusters(names(5));
  await world.turns();
  const { settings, objects } = world.services;
  const before = await settings.read();
  await settings.write(before, { ...before, OPERATOR_ROLLOUT_PERCENTAGE: 0 }, []);
  const { resources } = world.runtime.services;
  const window = await createWindow(resources, { name: 'nights', ...NIGHT }, 'test');
  const { organization } = world.host('c1');
  await updateOrganization(resources, organization, { maintenance_window: window.id }, 'test');
  expect((await objects.get('organization', organization, true))?.maintenance_window).toBe(window.id);
  return { items: await WaitingItems.start(world), calendar: `o:${organization}`, window: window.id };
}

const SIZES = [10, 10_000];

test('B30 10,000 items that wait for a window cost as little as 10 for hours, and their wave is looked at once per resync', async () => {
  const { items, calendar } = await shut();
  // The agents, which nobody plays, have been found silent by then.
  await world.advance(3600 - 10);
  const spent: number[] = [];
  for (const size of SIZES) {
    await items.growTo(size, calendar);
    await driveWave(world.services, items.wave);
    await world.settle();
    const before = total();
    // The full look of each hour wakes the waves of its config, in case that somebody died before he did.
    for (let hour = 1; hour <= 3; hour++) {
      await world.advance(10 * 60);
      const plans = ofPlans();
      await world.advance(45 * 60);
      expect(ofPlans() - plans, 'no plan while they wait').toBe(0);
      await world.advance(5 * 60);
    }
    expect(line(await world.wave())).toBe(`${size} = 0+0+${size}+0+0`);
    spent.push(total() - before);
  }
  console.log(`units of the platform in 3 h with 10 and with 10,000 items waiting: ${spent.join(', ')}`);
  expect(spent[1]).toBe(spent[0]);
}, 60_000);

test('editing a window, a freeze, a zone, an inheritance or the system default costs the same for 10 and for 10,000 items', async () => {
  const { items, calendar, window } = await shut();
  const { resources } = world.runtime.services;
  const edit = (fields: Parameters<typeof updateWindow>[2]) => updateWindow(resources, window, fields, 'test');
  const inherit = (id: string | null) => updateOrganization(resources, world.host('c1').organization, { maintenance_window: id }, 'test');
  const other = await createWindow(resources, { name: 'others', ...NIGHT }, 'test');
  const makeDefault = (id: string, is_system_default: boolean) => updateWindow(resources, id, { is_system_default }, 'test');
  const edits: Readonly<Record<string, () => Promise<unknown>>> = {
    'other hours': () => edit({ time_slots: [{ start: '21:00', end: '23:00' }] }),
    'another zone': () => edit({ time_zone: 'Asia/Kolkata' }),
    'open now': () => edit({ time_zone: 'UTC', ...NOW_OPEN }),
    'a freeze': () => edit({ freezes: [{ from: '2026-03-01', to: '2026-03-02', reason: 'audit' }] }),
    'no freeze': () => edit({ freezes: [] }),
    'closed again': () => edit(NIGHT),
    'no window': () => inherit(null),
    'the system default instead': () => makeDefault(other.id, true),
    'another system default': () => makeDefault(window, true),
    'no system default': () => makeDefault(window, false),
    'a window again': () => inherit(window),
  };
  const costs: Record<string, number>[] = [];
  for (const size of SIZES) {
    await items.growTo(size, calendar);
    await driveWave(world.services, items.wave);
    await world.settle();
    const cost: Record<string, number> = {};
    for (const [what, change] of Object.entries(edits)) {
      const [before, plans] = [total(), ofPlans()];
      await change();
      await world.settle();
      expect(ofPlans(), `${what}: the waiting wave is looked at, at once`).toBeGreaterThan(plans);
      cost[what] = total() - before;
    }
    costs.push(cost);
  }
  console.log(`units of editing a window: ${JSON.stringify(costs[0])}`);
  expect(costs[1]).toEqual(costs[0]);
  expect(line(await world.wave())).toBe('10000 = 0+0+10000+0+0');
}, 60_000);
