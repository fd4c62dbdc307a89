import { documentClient, type Sender, type Table } from '../lib/adapters/dynamodb/client.ts';
import { localTelemetry, type Telemetry } from '../lib/adapters/observability/telemetry.ts';
import { SystemClock } from '../lib/adapters/system/clock.ts';
import { RemoteRenderer } from '../lib/adapters/templates/remote-renderer.ts';
import { seed } from '../lib/app/engine/seed.ts';
import type { Clock, WorkflowStarter } from '../lib/app/ports.ts';
import { scheduleTick } from '../lib/app/schedules/tick.ts';
import type { Services } from '../lib/app/services.ts';
import { compose } from '../lib/lambda/compose.ts';
import { Activity } from './activity.ts';
import { VirtualClock } from './clock.ts';
import { clockRoute } from './clock-route.ts';
import { type DataFolder, openDataFolder } from './data-folder.ts';
import { EmbeddedClient } from './embedded-client.ts';
import { LocalEngine } from './engine.ts';
import { tableExecutionLog } from './execution-log.ts';
import { type LocalFunctions, localFunctions, render } from './functions.ts';
import { LocalGateway } from './gateway.ts';
import { localContext } from './lambda.ts';
import { logFile } from './log-file.ts';
import { LocalOutbox, localNotifier } from './outbox.ts';
import { StartProblem } from './problem.ts';
import { routesOf } from './routes.ts';
import { LocalScheduler } from './scheduler.ts';
import { type EmbeddedTable, startTable } from './table.ts';

export interface RuntimeOptions {
  /** Nothing is kept; `data` is not touched. */
  readonly memory: boolean;
  readonly data: string;
  readonly fresh?: boolean;
  /** 0 = any free one. */
  readonly port: number;
  /** Epoch milliseconds at which a clock begins that only moves by hand; null = the real one. */
  readonly virtualClock: number | null;
  /** Stands between the program and its table: faults for tests. */
  readonly faults?: (sender: Sender) => Sender;
  /** What stands between may lose the answer to a transaction that has been written. */
  readonly losesAnswers?: boolean;
  /** Where lines of the log go. Left out: a file in the data folder, nothing with `memory`. */
  readonly log?: (line: string) => void;
  /** Where a person sees notices; left out: nobody does. */
  readonly say?: (line: string) => void;
  readonly random?: () => number;
  /** Left out: a moment, or nothing under a clock moved by hand. */
  readonly gatherMs?: number;
  /** How often the tick runs; a minute if not given. Rarer, it is as if ticks were missed. */
  readonly tickMs?: number;
}

export interface Runtime {
  readonly baseUrl: string;
  readonly port: number;
  /** Path of the data folder; null with `memory`. */
  readonly folder: string | null;
  readonly clock: Clock;
  /** The clock that a test moves; null when it is the real one. */
  readonly virtualClock: VirtualClock | null;
  readonly activity: Activity;
  readonly services: Services;
  readonly table: Table;
  readonly engine: LocalEngine;
  readonly functions: LocalFunctions;
  /** Resolves with the reason when a part ended that everything needs. */
  readonly failed: Promise<string>;
  /** True while targets are still being looked at: work that no wave shows yet. */
  preparing(): Promise<boolean>;
  /** Capacity units spent so far; `work` leaves out what is spent whether anything rolls out or not: heartbeats without news, ticks, the API. */
  units(): Spent & { readonly work: Spent };
  stop(): Promise<void>;
}

/** Wakes of one wave that come within so many milliseconds are one; the movable clock does not wait. */
const GATHER_MS = 200;

/** The whole product in this process, but for the table's. Whatever had been started is ended again when a part cannot start. */
export async function startRuntime(options: RuntimeOptions): Promise<Runtime> {
  const undo: Undo = [];
  const stop = once(async () => {
    for (const step of undo.toReversed()) await step();
  });
  try {
    return await start(options, undo, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(options: RuntimeOptions, undo: Undo, stop: () => Promise<void>): Promise<Runtime> {
  const folder = options.memory ? null : openDataFolder(options.data, { fresh: options.fresh ?? false });
  undo.push(() => folder?.close());
  const activity = new Activity();
  const virtualClock = options.virtualClock === null ? null : new VirtualClock(options.virtualClock, activity);
  const clock = virtualClock ?? new SystemClock();
  const telemetry = localTelemetry(clock, linesTo(options, folder, undo));
  const { log } = telemetry;
  const embedded = await startTable({ file: folder?.tableFile ?? null, endpoint: process.env['DYNAMODB_ENDPOINT'] });
  undo.push(() => embedded.stop());
  const scheduler = new LocalScheduler({ clock, activity, log, ...(options.tickMs === undefined ? {} : { tickMs: options.tickMs }) });
  const { services, table, functions, late } = program(options, embedded, { clock, activity, telemetry, scheduler }, undo);
  const random = options.random ?? Math.random;
  const common = { clock, ids: services.ids, log, activity };
  const engine = new LocalEngine({ ...common, executions: tableExecutionLog(table), functions, random });
  late.engine = engine;
  if (virtualClock !== null) await refuseEarlier(services, virtualClock);
  undo.push(() => engine.stop());
  await seed(services.engine);
  const local = virtualClock === null ? {} : { local: localRoutes(virtualClock) };
  const gateway = new LocalGateway({ ...common, routes: routesOf(services, telemetry), ...local });
  const port = await gateway.listen(options.port);
  undo.push(() => gateway.close());
  await engine.reportAborted();
  await startSchedules(scheduler, functions, services);
  undo.push(() => scheduler.stop());
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    port,
    folder: folder?.path ?? null,
    clock,
    virtualClock,
    activity,
    services,
    table,
    engine,
    functions,
    failed: embedded.failed,
    preparing: () => preparing(services),
    units: () => spent(table),
    stop,
  };
}

/** Schedules are kept in memory: this process knows of none yet. */
async function startSchedules(scheduler: LocalScheduler, functions: LocalFunctions, { engine, ids }: Services): Promise<void> {
  await scheduleTick(engine);
  const call = (name: 'tick' | 'trigger') => (event: object) => functions[name](event, localContext(name, ids.fresh()));
  scheduler.start({ tick: () => call('tick')({}), trigger: call('trigger') });
}

function linesTo(options: RuntimeOptions, folder: DataFolder | null, undo: Undo): (line: string) => void {
  if (options.log !== undefined) return options.log;
  if (folder === null) return () => undefined;
  const file = logFile(folder.path);
  undo.push(() => file.close());
  return file.write;
}

interface Spent {
  readonly write: number;
  readonly read: number;
}

const OVERHEAD = ['heartbeat', 'tick', 'api'];

function spent({ units }: Table): Spent & { work: Spent } {
  const work = { ...units.total };
  for (const name of OVERHEAD) {
    work.write -= units.byOperation.get(name)?.write ?? 0;
    work.read -= units.byOperation.get(name)?.read ?? 0;
  }
  return { ...units.total, work };
}

/** What ends the parts, in the order in which they began. */
type Undo = (() => Promise<void> | void)[];

interface Parts {
  readonly clock: Clock;
  readonly activity: Activity;
  readonly telemetry: Telemetry;
  readonly scheduler: LocalScheduler;
}

/** Parts that are made of the services which call them. */
interface Late {
  engine: LocalEngine | null;
  outbox: LocalOutbox | null;
}

/** The program's services; the engine that they start executions with is made of them and comes later. */
function program(options: RuntimeOptions, embedded: EmbeddedTable, parts: Parts, undo: Undo) {
  const { clock, activity, telemetry, scheduler } = parts;
  const client = tableClient(embedded, options.losesAnswers ?? false);
  undo.push(() => client.destroy());
  const late: Late = { engine: null, outbox: null };
  const engine = (): LocalEngine => {
    if (late.engine === null) throw new Error('The workflow engine is not there yet.');
    return late.engine;
  };
  const workflows: WorkflowStarter = {
    startWave: (input) => engine().startWave(input),
    startEnqueue: (input) => engine().startEnqueue(input),
    sendWake: (token) => engine().sendWake(token),
  };
  const composed = compose({
    sender: options.faults?.(client.sender) ?? client.sender,
    table: embedded.name,
    clock,
    log: telemetry.log,
    metrics: telemetry.metrics,
    random: options.random ?? Math.random,
    renderer: new RemoteRenderer(render),
    workflows,
    scheduler,
    outbox: { start: async () => late.outbox?.start() },
    gatherMs: options.gatherMs ?? (options.virtualClock === null ? GATHER_MS : 0),
    track: (work) => activity.run(work),
    // Pauses between tries take real time, which a clock moved by hand has none of.
    ...(options.virtualClock === null ? {} : { retry: { tries: 8, pause: () => Promise.resolve() } }),
  });
  return { ...composed, late, functions: functionsOf(options, composed.services, parts, late, undo) };
}

function functionsOf({ say = () => undefined }: RuntimeOptions, services: Services, parts: Parts, late: Late, undo: Undo): LocalFunctions {
  const { activity, telemetry } = parts;
  const { log } = telemetry;
  const functions = localFunctions(services, { ...services.notices, notifier: localNotifier(log, say), log }, telemetry);
  const outbox = new LocalOutbox({ activity, log, call: () => functions.outbox({}, localContext('outbox', services.ids.fresh())) });
  late.outbox = outbox;
  undo.push(() => outbox.stop());
  return functions;
}

/** The lean client only to the table that we started ourselves. */
function tableClient(table: EmbeddedTable, losesAnswers: boolean): { readonly sender: Sender; destroy(): void } {
  if (!table.ours) {
    const client = documentClient(table.client);
    return { sender: client, destroy: () => client.destroy() };
  }
  const client = new EmbeddedClient(String(table.client.endpoint), { tokens: losesAnswers });
  return { sender: client.sender(), destroy: () => client.destroy() };
}

/** What was written under a later clock would lie in the future: nothing of it would ever be due. */
async function refuseEarlier({ agents }: Services, clock: VirtualClock): Promise<void> {
  const { checked_at } = await agents.watch.read();
  if (checked_at === null || checked_at <= clock.now()) return;
  const last = new Date(checked_at).toISOString();
  throw new StartProblem(
    `The data was last used at ${last}, later than the clock would begin. Give --virtual-clock ${last} or later, or --fresh.`,
  );
}

function localRoutes(clock: VirtualClock) {
  return async (request: { method: string; path: string; body: () => Promise<string> }) =>
    /^\/local\/clock\/?$/.test(request.path) ? clockRoute(clock, request) : null;
}

const YEAR = 366 * 86_400_000;

/** Enqueue runs that are open, and imports that a crash cut short and the tick goes on with, whenever they want to be looked at again. */
async function preparing(services: Services): Promise<boolean> {
  const ever = services.clock.now() + YEAR;
  const [runs, imports] = await Promise.all([services.engine.engine.dueEnqueueRuns(ever, 1), services.imports.imports.due(ever, 1)]);
  return runs.length + imports.length > 0;
}

function once(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  return () => {
    running ??= work();
    return running;
  };
}
