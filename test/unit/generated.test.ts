import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { PAGES } from '../../scripts/docs/pages.ts';

describe('generated pages are what the code says (else: npm run gen)', () => {
  test.each(Object.keys(PAGES))('%s', (path) => {
    expect(readFileSync(path, 'utf8')).toBe(PAGES[path]?.());
  });
});
