// `npm run test:emulator [-- --target ministack|localstack|aws]`: deploys the stacks and walks the main job through them, as a user would.
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { startAws } from './support/aws.ts';
import { startLocalstack } from './support/localstack.ts';
import { startMinistack } from './support/ministack.ts';
import { show } from './support/processes.ts';
import { bootstrap, deploy } from './support/stacks.ts';
import { ROOT, type Running, Unavailable } from './support/target.ts';

const TARGETS = { ministack: startMinistack, localstack: startLocalstack, aws: startAws } as const;
const IN_CI = process.env['CI'] === '1' || process.env['CI'] === 'true';

const { target } = new Command('npm run test:emulator --')
  .addOption(new Option('--target <name>', 'where to deploy to').choices(Object.keys(TARGETS)).default('ministack'))
  .parse()
  .opts<{ target: keyof typeof TARGETS }>();

const began = performance.now();
const say = (text: string): void => console.log(`[${((performance.now() - began) / 1_000).toFixed(1).padStart(5)} s] ${text}`);

/** The tests, on what was deployed; they close with the line that counts them. */
async function walk(running: Running): Promise<number> {
  say('Bootstrapping');
  await bootstrap(running.account, running.env);
  say('Deploying');
  const outputs = await deploy(ROOT, running.env);
  say('Walking through');
  const env = {
    ...process.env,
    ...running.env,
    EMULATOR_TARGET: target,
    EMULATOR_BASE: running.apiBase(outputs.ApiUrl),
    EMULATOR_TABLE: outputs.TableName,
    EMULATOR_WAVE_MACHINE: outputs.WaveMachineArn,
  };
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  return show(process.execPath, [vitest, 'run', '--config', 'vitest.emulator.config.ts'], { cwd: ROOT, env });
}

/** Nothing was tested: a failure where tests must run, a clear word elsewhere. */
function unavailable(error: Unavailable): number {
  console.error(`${IN_CI ? 'FAILED' : 'SKIPPED'}: the walk through the emulator. ${error.message}`);
  console.log(IN_CI ? '0 passed, 1 failed' : '0 passed, 0 failed');
  return IN_CI ? 1 : 0;
}

let running: Running | null = null;
try {
  say(`Starting ${target}`);
  running = await TARGETS[target]();
  process.exitCode = await walk(running);
} catch (error) {
  if (error instanceof Unavailable) process.exitCode = unavailable(error);
  else {
    console.error(error instanceof Error ? error.message : String(error));
    console.log('0 passed, 1 failed');
    process.exitCode = 1;
  }
} finally {
  await running?.stop();
}
