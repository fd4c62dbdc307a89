import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LOG_EVENTS } from '../../../lib/contracts/telemetry/log-events.ts';
import { METRICS } from '../../../lib/contracts/telemetry/metrics.ts';

const code = globSync(['lib/{app,http,lambda,adapters}/**/*.ts', 'functions/**/*.ts', 'local/**/*.ts'])
  .map((path) => readFileSync(path, 'utf8'))
  .join('\n');

test('every event on the list is logged somewhere', () => {
  expect(Object.keys(LOG_EVENTS).filter((event) => !code.includes(`'${event}'`))).toEqual([]);
});

test('every metric on the list is counted or measured somewhere', () => {
  expect(Object.keys(METRICS).filter((name) => !new RegExp(`'${name}'|\\b${name}:`).test(code))).toEqual([]);
});
