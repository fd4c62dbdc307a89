/**
 * How many templates are rendered in a second. Run: `node --import tsx test/bench/templates.bench.ts`.
 * Goal: at least 50,000 target versions a second; printed, not asserted, because a busy machine says nothing about the program.
 */
import { NunjucksRenderer } from '../../lib/adapters/templates/renderer.ts';

const CONTEXT = {
  system_config: { OPERATOR_BLOCK_VERSION: '0.34.0' },
  workspace: { name: 'acme-prod', labels: { env: 'prod' } },
  cluster: { name: 'fra-1', labels: { env: 'prod', region: 'fra', tier: 'gold' } },
};
const CONFIG = `replicas: {{ 3 if cluster.labels.env == 'prod' else 1 }}
name: {{ cluster.name | to_yaml }}
labels:
{%- for key, value in cluster.labels.items() %}
  {{ key }}: {{ value | to_yaml }}
{%- endfor %}
`;

async function measure(what: string, rounds: number, work: () => Promise<{ ok: boolean }>): Promise<void> {
  for (let round = 0; round < rounds / 10; round += 1) await work();
  const begin = performance.now();
  for (let round = 0; round < rounds; round += 1) if (!(await work()).ok) throw new Error(`${what} was refused`);
  console.log(`${what}: ${Math.round(rounds / ((performance.now() - begin) / 1000)).toLocaleString('en')} a second`);
}

const renderer = new NunjucksRenderer();
await measure('a target version', 200_000, () => renderer.text('{{ system_config.OPERATOR_BLOCK_VERSION }}', CONTEXT));
await measure('a config as text', 50_000, () => renderer.text(CONFIG, CONTEXT));
await measure('a config, read as YAML', 10_000, () => renderer.config(CONFIG, CONTEXT));
await measure('a config seen for the first time', 5_000, () => new NunjucksRenderer().text(CONFIG, CONTEXT));
