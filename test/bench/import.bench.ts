/**
 * How long a large fleet takes to come in, on the embedded table. Run: `node test/bench/import.bench.ts`.
 * Goal: 10,000 clusters well under a minute; printed, not asserted, because a busy machine says nothing about the program.
 */
import { DynamoImportStore } from '../../lib/adapters/dynamodb/import-store.ts';
import { NunjucksRenderer } from '../../lib/adapters/templates/renderer.ts';
import { continueImport } from '../../lib/app/import/advance.ts';
import { configBuilder } from '../../lib/app/import/config-builder.ts';
import type { ImportServices } from '../../lib/app/import/ports.ts';
import { startImport } from '../../lib/app/import/start.ts';
import { exampleFleet } from '../../scripts/example-fleet.ts';
import { embedded } from '../support/embedded.ts';

const CLUSTERS = 10_000;

const { table, clock, ids, objects, settings, also, stop } = await embedded();
const services: ImportServices = {
  ...{
    clock,
    ids,
    objects,
    settings,
    configs: configBuilder,
    renderer: new NunjucksRenderer(),
    imports: new DynamoImportStore(table, clock, ids, also),
  },
  changed: () => Promise.resolve(),
  demandWritten: () => Promise.resolve(),
  selectorProblem: () => null,
  archive: () => Promise.resolve(),
};
const fleet = exampleFleet({ clusters: CLUSTERS, seed: 1, percentage: 10, target: '0.34.0', instant: true });
for (const what of ['new', 'unchanged']) {
  const begin = performance.now();
  const { id } = await startImport(services, { body: new TextEncoder().encode(fleet), actor: 'bench', prune: false });
  const checked = performance.now();
  await continueImport(services, id);
  const seconds = (from: number, to: number) => ((to - from) / 1000).toFixed(1);
  console.log(
    `${CLUSTERS} clusters, ${what}: checked in ${seconds(begin, checked)} s, applied in ${seconds(checked, performance.now())} s`,
  );
}
await stop();
