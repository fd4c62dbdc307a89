/**
 * How many templates are rendered in a second. Run: `node test/bench/templates.bench.ts`.
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

function measure(what: string, rounds: number, work: () => { ok: boolean }): void {
  for (let round = 0; round < rounds / 10; round += 1) work();
  const begin = performance.now();
  for (let round = 0; round < rounds; round += 1) if (!work().ok) throw new Error(`${what} was refused`);
  console.log(`${what}: ${Math.round(rounds / ((performance.now() - begin) / 1000)).toLocaleString('en')} a second`);
}

const renderer = new NunjucksRenderer();
measure('a target version', 200_000, () => renderer.text('{{ system_config.OPERATOR_BLOCK_VERSION }}', CONTEXT));
measure('a config as text', 50_000, () => renderer.text(CONFIG, CONTEXT));
measure('a config, read as YAML', 10_000, () => renderer.config(CONFIG, CONTEXT));
measure('a config seen for the first time', 5_000, () => new NunjucksRenderer().text(CONFIG, CONTEXT));
