// Runs dependency-cruiser and also checks how much it saw: with a TypeScript version it does not know it finds no modules and reports success.
import { existsSync } from 'node:fs';
import { cruise, format, type ICruiseResult } from 'dependency-cruiser';
import extractDepcruiseConfig from 'dependency-cruiser/config-utl/extract-depcruise-config';
import extractTsConfig from 'dependency-cruiser/config-utl/extract-ts-config';

const ROOMS = ['lib', 'functions', 'infra', 'local', 'cli', 'web', 'scripts', 'test'];
/** Fewer modules than this in the rooms means that the check is blind, not that the program got smaller. Raise it as the program grows. */
const FLOOR = 250;

const { forbidden = [], options = {} } = await extractDepcruiseConfig('./.dependency-cruiser.mjs');
const { output } = await cruise(
  ROOMS.filter((room) => existsSync(room)),
  { ...options, ruleSet: { forbidden }, validate: true },
  options.enhancedResolveOptions,
  { tsConfig: extractTsConfig('tsconfig.json') },
);
const result = output as ICruiseResult;
const own = result.modules.filter((module) => !module.source.includes('node_modules') && !module.coreModule).length;

const report = await format(result, { outputType: 'err' });
console.log(String(report.output).trim());
if (own < FLOOR) {
  console.error(
    `dependency-cruiser saw ${own} modules of this repository; at least ${FLOOR} are there. Does it know the installed TypeScript version?`,
  );
}
process.exitCode = result.summary.error > 0 || own < FLOOR ? 1 : 0;
