import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { RenderAnswer, RenderRequest, RenderResult } from '../../contracts/render.ts';
import { type FromWorker, startWorker, type Turn } from './render-worker.ts';

/** CPU time, not the clock's: a busy machine makes no template wrong (SPEC §8). */
const JOB_MS = 2_000;
/** What one template may take in one request, so that a page of bad ones ends in time. */
const TEMPLATE_MS = 6_000;
const LOOK_MS = 50;

type End = 'done' | 'job_time' | 'template_time' | 'memory';

const REFUSALS: Readonly<Record<Exclude<End, 'done'>, string>> = {
  job_time: `the template was stopped after ${JOB_MS / 1000} s of work; shorten its loops and lists`,
  template_time: `the template takes too long: more than ${TEMPLATE_MS / 1000} s for one page of targets; shorten its loops and lists`,
  memory: 'the template was stopped because it needs more than 64 MiB; shorten its texts and lists',
};

/**
 * Renders in a process of its own that is watched from here: whatever a template manages to do in there, it is stopped, its item gets the refusal,
 * and the next job goes to a fresh process (DESIGN §6).
 */
export class RenderHost {
  readonly #start: () => ChildProcess;
  #worker: Running | null = null;
  #before: Promise<unknown> = Promise.resolve();

  constructor(start: () => ChildProcess = startWorker) {
    this.#start = start;
  }

  /** One request after the other. */
  render(request: RenderRequest): Promise<RenderAnswer> {
    const answer = this.#before.then(() => this.#render(request));
    this.#before = answer.catch(() => undefined);
    return answer;
  }

  async #render(request: RenderRequest): Promise<RenderAnswer> {
    const page = new Page(request);
    for (let todo = page.todo(); todo.length > 0; todo = page.todo()) {
      const worker = await this.#running();
      const end = await worker.turn({ request, todo }, page).catch((error: unknown) => this.#ended(worker, error));
      if (end === 'done') break;
      this.#end(worker);
      // Memory may have been filled by those before it: only what needs too much by itself is refused.
      if (end !== 'memory' || worker.done === 0) page.refuse(end);
    }
    return { results: page.first() };
  }

  async #running(): Promise<Running> {
    if (this.#worker === null || this.#worker.gone) this.#worker = await Running.start(this.#start());
    return this.#worker;
  }

  async #ended(worker: Running, error: unknown): Promise<never> {
    this.#end(worker);
    throw error;
  }

  #end(worker: Running): void {
    this.#worker = null;
    worker.stop();
  }
}

/** What has come of a request's jobs, and how long each template took. */
class Page {
  readonly #request: RenderRequest;
  readonly #results: (RenderResult | undefined)[];
  readonly #spent = new Map<number, number>();

  constructor(request: RenderRequest) {
    this.#request = request;
    this.#results = request.jobs.map(() => undefined);
  }

  /** Places without a result; those of a template whose time is over get theirs here. */
  todo(): number[] {
    return this.#request.jobs.flatMap(({ template }, place) => {
      if (this.#results[place] !== undefined) return [];
      if ((this.#spent.get(template) ?? 0) < TEMPLATE_MS) return [place];
      this.#results[place] = { ok: false, error: REFUSALS.template_time };
      return [];
    });
  }

  take(place: number, json: string): void {
    this.#results[place] = JSON.parse(json) as RenderResult;
  }

  /** Books time on the job that is being done; answers what its template has taken so far. */
  spend(ms: number): number {
    const template = this.#request.jobs[this.#current()]?.template ?? -1;
    const spent = (this.#spent.get(template) ?? 0) + ms;
    this.#spent.set(template, spent);
    return spent;
  }

  refuse(end: Exclude<End, 'done'>): void {
    this.#results[this.#current()] = { ok: false, error: REFUSALS[end] };
  }

  /** The results up to the first gap. */
  first(): RenderResult[] {
    const gap = this.#current();
    return this.#results.slice(0, gap).flatMap((result) => result ?? []);
  }

  #current(): number {
    const gap = this.#results.indexOf(undefined);
    return gap < 0 ? this.#results.length : gap;
  }
}

/** Who listens to the worker now. */
interface Listener {
  message(message: FromWorker): void;
  ended(end: End | Error): void;
}

/** A worker from its start to its end. */
class Running {
  /** Jobs that it has done. */
  done = 0;
  gone = false;
  readonly #worker: ChildProcess;
  #listener: Listener | null = null;

  private constructor(worker: ChildProcess) {
    this.#worker = worker;
    worker.on('message', (message: FromWorker) => this.#listener?.message(message));
    worker.on('error', (error) => this.#ended(error));
    // It aborts where its heap cannot grow any more.
    worker.on('exit', (code, signal) =>
      this.#ended(signal === 'SIGABRT' ? 'memory' : new Error(`The process that renders templates ended (${signal ?? code}).`)),
    );
  }

  static async start(worker: ChildProcess): Promise<Running> {
    const running = new Running(worker);
    await running.#listen<void>((resolve, reject) => ({
      message: () => resolve(),
      ended: (end) => reject(end instanceof Error ? end : new Error('The process that renders templates does not fit into its memory.')),
    }));
    return running;
  }

  stop(): void {
    this.gone = true;
    this.#worker.kill('SIGKILL');
  }

  async turn(turn: Turn, page: Page): Promise<End> {
    const watch = new CpuWatch(this.#worker.pid ?? 0);
    let look: NodeJS.Timeout | undefined;
    const end = this.#listen<End>((resolve, reject) => {
      look = setInterval(() => {
        const { job, since } = watch.look(this.done);
        if (page.spend(since) >= TEMPLATE_MS) resolve('template_time');
        else if (job >= JOB_MS) resolve('job_time');
      }, LOOK_MS);
      const message = (message: FromWorker): void => {
        if (message.kind === 'end') resolve('done');
        if (message.kind !== 'result') return;
        this.done += 1;
        page.take(message.place, message.json);
      };
      return { message, ended: (end) => (end instanceof Error ? reject(end) : resolve(end)) };
    });
    this.#worker.send(turn, (error) => error !== null && this.#ended(error));
    return end.finally(() => clearInterval(look));
  }

  #ended(end: End | Error): void {
    this.gone = true;
    this.#listener?.ended(end);
  }

  /** An idle worker keeps nobody from ending. */
  async #listen<T>(listener: (resolve: (value: T) => void, reject: (error: Error) => void) => Listener): Promise<T> {
    this.#worker.ref();
    this.#worker.channel?.ref();
    try {
      return await new Promise<T>((resolve, reject) => {
        this.#listener = listener(resolve, reject);
      });
    } finally {
      this.#listener = null;
      this.#worker.unref();
      this.#worker.channel?.unref();
    }
  }
}

/** Needs no help from a worker that hangs. */
class CpuWatch {
  readonly #pid: number;
  #last: number;
  #begun: number;
  #done = -1;

  constructor(pid: number) {
    this.#pid = pid;
    this.#last = cpuMs(pid);
    this.#begun = this.#last;
  }

  /** Milliseconds since the last look, and at least those of the job that is being done. */
  look(done: number): { job: number; since: number } {
    const now = cpuMs(this.#pid);
    const since = now - this.#last;
    this.#last = now;
    if (done !== this.#done) this.#begun = now;
    this.#done = done;
    return { job: now - this.#begun, since };
  }
}

/** Linux counts in hundredths of a second. */
const TICK_MS = 10;

/** CPU time of a process. Where the system has no file that says it, the clock's: a little too strict on a busy machine. */
function cpuMs(pid: number): number {
  if (process.platform !== 'linux') return performance.now();
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Counted behind the name, which may hold blanks.
    const [utime, stime] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13)
      .map(Number);
    return ((utime ?? 0) + (stime ?? 0)) * TICK_MS;
  } catch {
    return 0;
  }
}
