/** `node test/bench/import-check.bench.ts [clusters]`: time and memory of reading and checking a fleet file. */
import { checkFleet } from '../../lib/app/import/check.ts';
import { configBuilder } from '../../lib/app/import/config-builder.ts';
import { exampleFleet } from '../../scripts/example-fleet.ts';

const clusters = Number(process.argv[2] ?? 10_000);
const text = exampleFleet({ clusters, seed: 1, percentage: 20, target: '0.34.0', instant: false });
const checks = { config: configBuilder.check, selector: () => null };
const started = performance.now();
const checked = checkFleet(text, checks);
const seconds = (performance.now() - started) / 1000;
const megabytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MB`;
console.log(
  `${clusters} clusters, ${megabytes(text.length)}: ${checked.ok ? 'right' : 'wrong'} in ${seconds.toFixed(2)} s, ${megabytes(process.resourceUsage().maxRSS * 1024)} at most`,
);
