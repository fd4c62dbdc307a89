import { writeSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

/**
 * Closes the run with one line that programs can read, the last of all: `N passed, N failed`, with `, N skipped` only if there are any.
 * A file that cannot be loaded, a failing hook and an error outside every test count as one failure each; so does a run without any test.
 */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, unhandledErrors: ReadonlyArray<unknown>): void {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        counts[state === 'pending' ? 'failed' : state] += 1;
      }
      if (module.errors().length > 0) counts.failed += 1;
      for (const suite of module.children.allSuites()) if (suite.errors().length > 0) counts.failed += 1;
    }
    if (counts.passed + counts.failed === 0) counts.failed = 1;
    const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
    // At exit, and synchronously: nothing may come after it.
    process.once('exit', () => writeSync(1, `${counts.passed} passed, ${counts.failed} failed${skipped}\n`));
  }
}
