import { type OperatorRollout, operatorRollout } from '../../lib/app/operator/operator-rollout.ts';
import { refreshBoard } from '../../lib/app/operator/refresh-board.ts';
import { createApiKey } from '../../lib/app/resources/access-keys.ts';
import type { ActionRun, Item } from '../../lib/domain/shared/rollout.ts';
import type { Host } from './host.ts';
import type { World } from './world.ts';

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers that are checked against their schemas before
  readonly body: any;
}

/** A person with an administrator's key, at an API: that of a world, or a deployed one. */
export class Console {
  readonly #base: string;
  readonly #key: string;

  /** `base` ends in /api/v1/. */
  constructor(base: string, key: string) {
    this.#base = base;
    this.#key = key;
  }

  static async open(world: World): Promise<Console> {
    const { key } = await createApiKey(world.runtime.services.resources, { name: 'admin' }, 'test');
    return new Console(`${world.runtime.baseUrl}/api/v1/`, key);
  }

  async send(method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await fetch(this.#base + path, {
      method,
      headers: { authorization: `Bearer ${this.#key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? null : JSON.parse(text) };
  }

  /** Sends and expects a success; its body. */
  async done(method: string, path: string, body?: unknown): Promise<Answer['body']> {
    const answer = await this.send(method, path, body);
    if (answer.status < 200 || answer.status > 299)
      throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  get = (path: string): Promise<Answer['body']> => this.done('GET', path);
  post = (path: string, body?: unknown): Promise<Answer['body']> => this.done('POST', path, body);
  patch = (path: string, body: unknown): Promise<Answer['body']> => this.done('PATCH', path, body);
}

/** Reports of all hosts, so that whoever is given something takes it; nothing ends by itself. */
export async function busy(world: World): Promise<Host[]> {
  for (const host of world.hosts.values()) host.behaviour.seconds = null;
  await world.turns();
  return [...world.hosts.values()].filter((host) => host.work.size > 0);
}

/** The host's attempt ends with this exit code, and everything that follows from it happens. */
export async function end(host: Host, exit: number): Promise<void> {
  host.behaviour.exit = () => exit;
  for (const work of host.work.values()) await host.finish(work);
  await host.world.settle();
}

/** Only those with an item in progress report and take it: for fleets in which a turn of all is long. */
export async function take(world: World, items: readonly Item[]): Promise<Host[]> {
  const clusters = new Set(items.flatMap((item) => (item.status === 'in_progress' ? [item.k8s_cluster] : [])));
  const hosts = [...world.hosts.values()].filter((host) => clusters.has(host.id));
  for (const host of hosts) {
    host.behaviour.seconds = null;
    if (host.work.size === 0) await host.turn();
  }
  return hosts;
}

export async function runsOf(world: World, items: readonly Item[]): Promise<ActionRun[]> {
  return [...(await world.services.engine.runs(items.flatMap((item) => item.attempts))).values()];
}

/** The dashboard just after a tick. */
export async function dashboard(world: World): Promise<OperatorRollout> {
  await refreshBoard(world.services);
  return operatorRollout(world.services, {}, { page: 1, page_size: 200, cursor: null });
}
