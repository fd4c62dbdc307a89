import { accessSync, constants, existsSync, writeFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { dirname, resolve } from 'node:path';
import * as z from 'zod';
import { refreshBoard } from '../lib/app/operator/refresh-board.ts';
import { systemConfig } from '../lib/contracts/api/system-config.ts';
import { SECOND } from '../lib/domain/shared/time.ts';
import { adminKey, adminKeyFile, writeSecret } from './admin-key.ts';
import { startVirtualFleet } from './agents/virtual-fleet.ts';
import { ApiClient } from './api-client.ts';
import { begin } from './begin.ts';
import {
  beginImport,
  EXAMPLE_FLEET,
  FleetProblem,
  type FleetSource,
  hasPlaces,
  readFleet,
  rememberedFleet,
  unfinishedImport,
} from './fleet-source.ts';
import { follow } from './follow.ts';
import { type Options, readOptions } from './options.ts';
import { StartProblem } from './problem.ts';
import { makeReport } from './report.ts';
import { type Runtime, startRuntime } from './runtime.ts';
import { greeting, summary } from './start-text.ts';
import { stopSignal } from './stop-signal.ts';
import { type Screen, screenFor } from './terminal/live.ts';
import { Watch, type Wave } from './terminal/watch.ts';

/** `npm start`: the whole product on this machine, with a fleet to play with. Exit codes: 0, 1 a wave is blocked, 2 it could not start, 3 a fault. */

const EXIT = { done: 0, blocked: 1, refused: 2, fault: 3, interrupted: 130 } as const;

interface Session {
  readonly options: Options;
  readonly runtime: Runtime;
  readonly api: ApiClient;
  readonly key: string;
  readonly screen: Screen;
  readonly signal: AbortSignal;
}

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if ('text' in options) {
    (options.exitCode === 0 ? process.stdout : process.stderr).write(options.text);
    return options.exitCode;
  }
  const screen = screenFor(process.stdout, process.env);
  const signal = stopSignal((line) => screen.say(line));
  try {
    for (const file of [options.report, options.adminKeyFile]) if (file !== null) checkWritable(file);
    const given = options.fleet === null ? null : readFleet(options.fleet);
    const runtime = await startRuntime({ ...options, say: (line) => screen.say(line) });
    try {
      return await run(await sessionOf(options, runtime, screen, signal), given);
    } finally {
      await runtime.stop();
    }
  } catch (error) {
    if (!(error instanceof StartProblem) && !(error instanceof FleetProblem)) throw error;
    process.stderr.write(`${error.message}\n`);
    return EXIT.refused;
  } finally {
    screen.end();
  }
}

/** Better now than after an hour's rollout. */
function checkWritable(file: string): void {
  const folder = dirname(resolve(file));
  try {
    accessSync(existsSync(file) ? file : folder, constants.W_OK);
  } catch {
    throw new StartProblem(`${file} cannot be written: the folder ${folder} does not exist or is not yours. Name another file.`);
  }
}

async function sessionOf(options: Options, runtime: Runtime, screen: Screen, signal: AbortSignal): Promise<Session> {
  const key = await adminKey({ clock: runtime.clock, ids: runtime.services.ids, objects: runtime.services.engine.objects }, runtime.folder);
  if (options.adminKeyFile !== null) writeSecret(options.adminKeyFile, key);
  return { options, runtime, api: new ApiClient(runtime.baseUrl, key), key, screen, signal };
}

async function run(session: Session, given: FleetSource | null): Promise<number> {
  const { options, runtime, screen, signal, key } = session;
  const folder = runtime.folder;
  const fresh = await isFresh(session);
  // The example is for whoever starts with nothing (DESIGN §7).
  const source = given ?? (folder === null ? null : unfinishedImport(folder)) ?? (fresh ? readFleet(EXAMPLE_FLEET) : null);
  // Before a word is said: whoever has seen it run and kills it finds the same fleet at the next start, not the example.
  if (source !== null && folder !== null) beginImport(folder, source);
  const played = source !== null && hasPlaces(source) ? source : folder === null ? null : rememberedFleet(folder);
  screen.say(
    greeting({
      baseUrl: runtime.baseUrl,
      key,
      keyFile: folder === null ? options.adminKeyFile : adminKeyFile(folder),
      virtual: options.virtualClock !== null,
      agents: agentWords(options, played),
    }),
  );
  // Not only at the end, which a kill -9 leaves out.
  flushCompileCache();
  const { api } = session;
  const stage = { api, folder, signal, say: (line: string) => screen.say(line) };
  const start = options.agents && played !== null ? () => virtualAgents(session, played) : null;
  const agents = await begin(stage, { source, fresh, start });
  try {
    return await untilTheEnd(session, agents === null ? 0 : firstReports(played));
  } finally {
    await agents?.stop();
  }
}

function agentWords(options: Options, played: FleetSource | null): string {
  if (!options.agents) return 'none of ours (--no-agents)';
  return played === null
    ? 'none: it is not known which fleet to play; name its file with --fleet'
    : `virtual ones, as ${played.file} describes them`;
}

function virtualAgents({ options, runtime, key }: Session, { fleet }: FleetSource) {
  return startVirtualFleet({
    baseUrl: runtime.baseUrl,
    adminKey: key,
    clock: runtime.clock,
    activity: runtime.activity,
    speed: options.speed,
    fleet,
  });
}

/** Nobody has imported anything, nor said which operator the fleet shall run. */
async function isFresh({ api }: Session): Promise<boolean> {
  const { count } = await api.page('organizations/?page_size=1', z.unknown());
  return count === 0 && (await api.get('system-config/', systemConfig)).OPERATOR_BLOCK_VERSION === null;
}

/** Until each virtual agent has had the time for two reports, a missing one may just not have come yet. */
function firstReports(played: FleetSource | null): number {
  const seconds = Number(played?.fleet.system_config?.AGENT_REPORT_INTERVAL_SECONDS ?? 60);
  return Math.max(5, 2 * seconds) * SECOND;
}

async function untilTheEnd(session: Session, atLeast: number): Promise<number> {
  const { api, runtime, screen, signal, options } = session;
  const fault = new AbortController();
  void runtime.failed.then((reason) => fault.abort(reason));
  const watch = new Watch(api, runtime.clock, runtime.baseUrl, () => refreshBoard(runtime.services.engine));
  const waves = await follow({
    api,
    watch,
    screen,
    untilSettled: options.exitWhenDone,
    notSettledBefore: performance.now() + atLeast,
    preparing: () => runtime.preparing(),
    signal: AbortSignal.any([signal, fault.signal]),
  });
  if (fault.signal.aborted) throw new Error(String(fault.signal.reason));
  if (options.report !== null) await writeReport(session, options.report);
  if (!options.exitWhenDone) return EXIT.done;
  if (signal.aborted) return EXIT.interrupted;
  screen.say(summary(waves));
  return waves.some((wave: Wave) => wave.status === 'blocked') ? EXIT.blocked : EXIT.done;
}

async function writeReport({ api, runtime }: Session, file: string): Promise<void> {
  const report = await makeReport(api, runtime.units());
  writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(
    `Block Rollout ended because of a fault; nothing is lost, start it again.\n${error instanceof Error ? error.stack : String(error)}\n`,
  );
  process.exitCode = EXIT.fault;
}
