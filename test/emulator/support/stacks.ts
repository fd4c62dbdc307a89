import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './processes.ts';
import { CACHE, ROOT } from './target.ts';

/** What the deployment says about itself. */
export interface Outputs {
  readonly ApiUrl: string;
  readonly TableName: string;
  readonly WaveMachineArn: string;
}

type Env = Readonly<Record<string, string | undefined>>;

const cdk = (args: readonly string[], cwd: string, env: Env, seconds: number): Promise<string> =>
  run(process.execPath, [join(ROOT, 'node_modules/aws-cdk/bin/cdk'), ...args], { cwd, env: { ...process.env, ...env }, seconds });

/** Once per account and region; away from cdk.json, or the stacks would be synthesized for it. */
export const bootstrap = (account: string, env: Env): Promise<string> =>
  cdk(['bootstrap', `aws://${account}/${env['AWS_REGION']}`], CACHE, env, 120);

/** Synthesizes the stacks of a source tree and deploys them: `npm run deploy`, with an end. */
export async function deploy(sources: string, env: Env): Promise<Outputs> {
  const assembly = join(CACHE, 'cdk.out');
  const file = join(CACHE, 'outputs.json');
  rmSync(assembly, { recursive: true, force: true });
  await cdk(['synth', '--quiet', '--output', assembly], sources, env, 120);
  await cdk(['deploy', '--all', '--app', assembly, '--require-approval', 'never', '--outputs-file', file], sources, env, 900);
  const stacks = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Record<string, string>>;
  const outputs: Record<string, string> = Object.assign({}, ...Object.values(stacks));
  const { ApiUrl, TableName, WaveMachineConsole } = outputs;
  const WaveMachineArn = WaveMachineConsole?.split('/view/')[1];
  if (ApiUrl === undefined || TableName === undefined || WaveMachineArn === undefined)
    throw new Error(`The stacks put out ${Object.keys(outputs).join(', ')}; ApiUrl, TableName and WaveMachineConsole are needed.`);
  return { ApiUrl, TableName, WaveMachineArn };
}

/** The sources as a later version has them: every function is another one, and so is the definition of the wave machine. */
export function changedSources(): string {
  const copy = join(CACHE, 'changed');
  rmSync(copy, { recursive: true, force: true });
  mkdirSync(copy, { recursive: true });
  for (const part of ['lib', 'functions', 'infra', 'cdk.json', 'package.json', 'tsconfig.json'])
    cpSync(join(ROOT, part), join(copy, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  for (const name of readdirSync(join(copy, 'functions')))
    edit(join(copy, 'functions', name, 'handler.ts'), (text) => `${text}\nexport const version = 'the changed one';\n`);
  edit(join(copy, 'infra/workflows/wave.asl.json'), (text) => text.replace('"Comment": "', '"Comment": "The changed version. '));
  return copy;
}

function edit(file: string, change: (text: string) => string): void {
  const before = readFileSync(file, 'utf8');
  const after = change(before);
  if (after === before) throw new Error(`There is nothing to change in ${file} any more; mend the test.`);
  writeFileSync(file, after);
}
