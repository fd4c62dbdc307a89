// Writes the generated pages of docs/, or with --check only says which are not what the code says.
import { readFileSync, writeFileSync } from 'node:fs';
import { PAGES } from './docs/pages.ts';
import { withPermissions } from './docs/permissions.ts';

const check = process.argv.includes('--check');

function current(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

const stale = Object.entries(PAGES).filter(([path, page]) => current(path) !== page());
for (const [path, page] of stale) {
  if (check) console.error(`${path} is not what the code says; run \`npm run gen\` and commit it.`);
  else writeFileSync(path, page());
}
if (check && stale.length > 0) process.exitCode = 1;
// The table of permissions comes from the template, which takes some seconds to make: test/infra compares it, not `--check`.
if (!check) {
  const [{ synthesize }, { STAGES }] = await Promise.all([import('./docs/deployed.ts'), import('../infra/stages.ts')]);
  const path = 'docs/architecture.md';
  writeFileSync(path, withPermissions(readFileSync(path, 'utf8'), await synthesize(STAGES.prod)));
}
console.log(
  check
    ? `${Object.keys(PAGES).length} generated pages checked.`
    : `${stale.length} of ${Object.keys(PAGES).length} generated pages written.`,
);
