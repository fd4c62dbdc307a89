import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const document = JSON.parse(readFileSync(new URL('../../../openapi/openapi.json', import.meta.url), 'utf8')) as {
  components: { schemas: Record<string, { $ref?: string; properties?: object }> };
};
const { schemas } = document.components;

test('each schema that is referred to is there, and none is only a reference to itself', () => {
  const referred = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name ?? '');
  expect(referred.filter((name) => schemas[name] === undefined)).toEqual([]);
  expect(Object.entries(schemas).flatMap(([name, { $ref }]) => ($ref?.endsWith(`/${name}`) ? [name] : []))).toEqual([]);
  expect(schemas['CreateBlockRolloutConfig']?.properties).toMatchObject({ max_concurrent_percent: {}, cron_expression: {} });
});
