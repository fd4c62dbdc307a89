import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkFleet } from '../../../lib/app/import/check.ts';
import { configBuilder } from '../../../lib/app/import/config-builder.ts';
import {
  beginImport,
  type FleetSource,
  importDone,
  importRefused,
  quietPart,
  readFleet,
  rememberedFleet,
  rolloutsOnly,
  unfinishedImport,
} from '../../../local/fleet-source.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'block-rollout-fleet-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function fleet(text: string): FleetSource {
  const file = join(folder, 'given.yaml');
  writeFileSync(file, text);
  return readFleet(file);
}

const WHOLE = `apiVersion: block-rollout/v1
system_config: {OPERATOR_BLOCK_VERSION: 1.2.3, AGENT_REPORT_INTERVAL_SECONDS: 2}
organizations: [{name: acme}]
rollout_configs:
  - {name: defaults, kind: config, retry_base_seconds: 5}
  - {name: redis-up, kind: trigger, trigger_type: reconciliation, block_name: redis, target_version: 1.1.0}
`;
const SETTINGS = 'apiVersion: block-rollout/v1\nsystem_config: {OPERATOR_BLOCK_VERSION: 1.2.3}\n';

test('what comes first rolls nothing out, and has all else: intervals, rules, places', () => {
  const { fleet: first, text } = quietPart(fleet(WHOLE));
  expect(first.system_config).toEqual({ AGENT_REPORT_INTERVAL_SECONDS: 2 });
  expect(first.organizations).toEqual([{ name: 'acme' }]);
  expect(first.rollout_configs?.map((config) => [config.name, config['active']])).toEqual([
    ['defaults', undefined],
    ['redis-up', false],
  ]);
  expect(checkFleet(text, { config: (fields) => configBuilder.check(fields), selector: () => null }).ok).toBe(true);
});

test('the rest is as the file has it, without the places', () => {
  const source = fleet(WHOLE);
  const { apiVersion, system_config, rollout_configs } = source.fleet;
  expect(JSON.parse(rolloutsOnly(source).text)).toEqual({ apiVersion, system_config, rollout_configs });
  expect(JSON.parse(rolloutsOnly(fleet('apiVersion: block-rollout/v1\n')).text)).toEqual({ apiVersion });
});

test('later starts play the fleet that was imported last; a file of settings alone changes nothing about it', () => {
  const whole = fleet(WHOLE);
  beginImport(folder, whole);
  expect(unfinishedImport(folder)?.fleet).toEqual(whole.fleet);
  importDone(folder, whole);
  const settings = fleet(SETTINGS);
  beginImport(folder, settings);
  importDone(folder, settings);
  expect(unfinishedImport(folder)).toBeNull();
  expect(rememberedFleet(folder)?.text).toBe(WHOLE);
});

test('a fleet that was refused is forgotten, however often that is said', () => {
  beginImport(folder, fleet(WHOLE));
  importRefused(folder);
  importRefused(folder);
  expect(existsSync(join(folder, 'importing.yaml'))).toBe(false);
  expect(readFileSync(join(folder, 'given.yaml'), 'utf8')).toBe(WHOLE);
});
