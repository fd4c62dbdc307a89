import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import * as z from 'zod';
import { reportedApp } from '../lib/contracts/api/agent.ts';
import { type AgentOptions, DEFAULT_COMMAND, ReferenceAgent } from './agent.ts';
import { AgentClient, Connections } from './agent-client.ts';

const appsFile = z.array(reportedApp);
type Commands = Record<string, readonly string[]>;

/** `install=polycrate run {block} install`: words are split at blanks. */
function commandFor(text: string, known: Commands): Commands {
  const at = text.indexOf('=');
  const command = text
    .slice(at + 1)
    .split(' ')
    .filter((word) => word !== '');
  if (at < 1 || command.length === 0) throw new InvalidArgumentError('must look like install=polycrate run {block} install');
  return { ...known, [text.slice(0, at)]: command };
}

/** `block-rollout agent`: the reference agent as a command. */
export function agentCommand(): Command {
  return new Command('agent')
    .description('Reports to Block Rollout, runs what it hands out and reports the results.')
    .addOption(new Option('--api <url>', 'address of the service').env('BLOCK_ROLLOUT_API').default('http://127.0.0.1:8787'))
    .addOption(
      new Option('--key <key>', 'the agent key; better given in the environment').env('BLOCK_ROLLOUT_AGENT_KEY').makeOptionMandatory(),
    )
    .addOption(new Option('--kind <kind>', 'what it is').choices(['operator', 'agent']).default('agent'))
    .option('--id <id>', 'tells several agents of one workspace apart', hostname())
    .option('--cluster-uid <uid>', 'UID of the kube-system namespace of the cluster that it runs on')
    .option('--cluster <name>', 'name of that cluster, when the key is for the whole workspace')
    .option('--apps <file>', 'JSON list of {name, installed_version, state}; read before each report')
    .option('--report-version <version>', 'its own version', '0.1.0')
    .option('--command <action=command>', `command of an action, * for all others (${DEFAULT_COMMAND.join(' ')})`, commandFor, {})
    .action((options: Flags) => run(options));
}

interface Flags {
  readonly api: string;
  readonly key: string;
  readonly kind: 'operator' | 'agent';
  readonly id: string;
  readonly clusterUid?: string;
  readonly cluster?: string;
  readonly apps?: string;
  readonly reportVersion: string;
  readonly command: Commands;
}

async function run(flags: Flags): Promise<void> {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  const connections = new Connections(flags.api, 4);
  const agent = new ReferenceAgent(new AgentClient(connections, flags.key, flags.clusterUid ?? null), optionsOf(flags));
  await agent.live(stop.signal);
  connections.close();
}

function optionsOf(flags: Flags): AgentOptions {
  const name = flags.cluster === undefined ? {} : { name: flags.cluster };
  return {
    kind: flags.kind,
    reported_agent_id: flags.id,
    version: flags.reportVersion,
    cluster: flags.clusterUid === undefined ? null : { uid: flags.clusterUid, ...name },
    apps: async () => (flags.apps === undefined ? null : appsFile.parse(JSON.parse(await readFile(flags.apps, 'utf8')))),
    commands: flags.command,
    say: (line) => process.stderr.write(`${new Date().toISOString()} ${line}\n`),
  };
}
