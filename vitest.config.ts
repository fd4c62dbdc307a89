import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// A process per test file loads the same modules each time.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('node_modules/.cache/compiled', import.meta.url));

/** One project per kind of test: `npm run test:<kind>`. Seconds are what one test may take on a busy machine with two cores. */
function kind(name: string, seconds: number) {
  return {
    extends: true as const,
    test: { name, include: [`test/${name}/**/*.test.ts`], testTimeout: seconds * 1000, hookTimeout: Math.max(seconds, 30) * 1000 },
  };
}

export default defineConfig({
  test: {
    projects: [
      kind('unit', 10),
      kind('properties', 60),
      kind('contract', 60),
      kind('workflow', 60),
      kind('infra', 120),
      kind('scenarios', 120),
      kind('faults', 300),
      kind('compat', 30),
    ],
    // A process per test file: tests start the embedded table and move clocks, and must not see each other.
    pool: 'forks',
    maxWorkers: 2,
    setupFiles: ['./test/support/setup.ts'],
    reporters: ['default', './test/support/count-reporter.ts'],
    // A test that leaves something running is a bug of the test or of the product's shutdown.
    teardownTimeout: 10_000,
  },
});
