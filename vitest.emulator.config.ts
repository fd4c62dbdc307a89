import { defineConfig } from 'vitest/config';

/** `npm run test:emulator` starts this on a deployment; one test goes on where the one before it has stopped. */
export default defineConfig({
  test: {
    include: ['test/emulator/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 1,
    bail: 1,
    reporters: ['verbose', './test/support/count-reporter.ts'],
    teardownTimeout: 10_000,
  },
});
