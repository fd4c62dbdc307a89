import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { everyRoute } from '../../lib/contracts/api/routes.ts';
import { Router } from '../../lib/http/router.ts';

const PAGES = [...globSync('*.md'), ...globSync('docs/**/*.md'), ...globSync('infra/**/*.md'), ...globSync('examples/**/*.md')];
const scripts: Record<string, string> = JSON.parse(readFileSync('package.json', 'utf8')).scripts;

const text = (path: string): string => readFileSync(path, 'utf8');
const all = (pattern: RegExp, from: string): string[] => [...from.matchAll(pattern)].map(([, found]) => found ?? '');
/** Heading → its anchor, as GitHub makes it. */
const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

describe('documents', () => {
  test.each(PAGES)('every link of %s leads somewhere', (page) => {
    const broken = all(/\]\((?!https?:)([^)\s]+)\)/g, text(page)).filter((link) => {
      const [path, fragment] = link.split('#');
      const target = path ? join(dirname(page), path) : page;
      if (!existsSync(target)) return true;
      return (
        fragment !== undefined &&
        !all(/^#+ (.+)$/gm, text(target))
          .map(anchor)
          .includes(fragment)
      );
    });
    expect(broken).toEqual([]);
  });

  test.each([...PAGES, '.ci/run'])('every npm script that %s names exists', (page) => {
    const named = [...all(/npm run (?:-s |--silent )?([a-z][a-z:-]*)/g, text(page)), ...all(/`((?:test|check):[a-z]+)`/g, text(page))];
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });

  test.each(PAGES)('every call of the API that %s names exists', (page) => {
    const router = new Router(everyRoute());
    const calls = [...text(page).matchAll(/\b(GET|POST|PUT|PATCH|DELETE) (\/api\/v1\/[^\s`?)"]*)/g)];
    const unknown = calls.filter(([, method = '', path = '']) => {
      try {
        return router.match(method, path.replaceAll(/\{[a-z_]+\}/g, '0195a000-0000-7000-8000-000000000001')) === undefined;
      } catch {
        return true;
      }
    });
    expect(unknown.map(([call]) => call)).toEqual([]);
  });

  test('README begins with the two commands', () => {
    expect(all(/^(npm [a-z]+)/gm, text('README.md')).slice(0, 2)).toEqual(['npm start', 'npm test']);
  });

  test('.ci/run calls nothing that the README or AGENTS.md does not name', () => {
    const known = text('README.md') + text('AGENTS.md');
    const called = all(/^(?!#).*?\b(npm (?:run [a-z:]+|start|test))/gm, text('.ci/run'));
    expect(called.length).toBeGreaterThan(0);
    expect(called.filter((command) => !known.includes(command))).toEqual([]);
  });
});
