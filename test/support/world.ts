import { type Sender, Table } from '../../lib/adapters/dynamodb/client.ts';
import { DynamoEngineStore } from '../../lib/adapters/dynamodb/engine-store.ts';
import { systemKeyCrypto } from '../../lib/adapters/system/key-crypto.ts';
import { agentApi } from '../../lib/app/agents/agent-api.ts';
import { derivedId } from '../../lib/app/derived-ids.ts';
import { operatorConfigId, systemConfigId } from '../../lib/app/engine/configs.ts';
import { demandOf, raiseDemand } from '../../lib/app/engine/demands.ts';
import type { EngineStore } from '../../lib/app/engine/ports.ts';
import { AppError } from '../../lib/app/errors.ts';
import { makeKey } from '../../lib/app/keys/format.ts';
import { newManaged } from '../../lib/app/managed.ts';
import type { Criticality, K8sCluster, Workspace } from '../../lib/domain/shared/fleet.ts';
import { OPERATOR_APP, OPERATOR_BLOCK } from '../../lib/domain/shared/fleet.ts';
import type { BlockRolloutConfig, Item, SystemSettings, Wave } from '../../lib/domain/shared/rollout.ts';
import { MINUTE, SECOND } from '../../lib/domain/shared/time.ts';
import { type Runtime, startRuntime } from '../../local/runtime.ts';
import { type FaultShares, faulty, seeded, USUAL_FAULTS } from './faults.ts';
import { Host } from './host.ts';

export const START = Date.UTC(2026, 2, 1);

export interface WorldOptions {
  /** Injects the faults of DESIGN §4 by this seed; left out: none. */
  readonly seed?: number;
  readonly shares?: FaultShares;
  /** Wakes within so many milliseconds are one, as on AWS (1 s). */
  readonly gatherMs?: number;
  /** How often the platform's tick runs; left out: each minute. */
  readonly tickMs?: number;
  /** When the clock begins; left out: START. */
  readonly now?: number;
  /** Stands between the program and its table instead of the seed's faults. */
  readonly between?: (sender: Sender) => Sender;
  /** Gets each line of the log. */
  readonly log?: (line: string) => void;
}

export interface ClusterSpec {
  readonly name: string;
  readonly installed?: string | null;
  readonly criticality?: Criticality | null;
  readonly organization?: string;
  readonly workspace?: string;
  readonly labels?: Record<string, string>;
}

/** The whole local system on a clock that a test moves, with agents that a test plays. */
export class World {
  runtime: Runtime;
  agents: ReturnType<typeof agentApi>;
  readonly hosts = new Map<string, Host>();
  readonly #tokens = new Map<string, string>();
  readonly #workspaces = new Map<string, Workspace>();
  /** Sees the table as it is, whatever faults the program has to live with. */
  #observer: EngineStore;

  private constructor(runtime: Runtime, observer: EngineStore) {
    this.runtime = runtime;
    this.#observer = observer;
    this.agents = agentApi(runtime.services.agents);
  }

  static async start(options: WorldOptions = {}): Promise<World> {
    const { runtime, observer } = await startSystem(options);
    return new World(runtime, observer);
  }

  /**
   * The process ends and another begins so many seconds later on the same table, which `DYNAMODB_ENDPOINT` names; clusters and their agents live
   * on.
   */
  async restart(options: WorldOptions = {}, down = 0): Promise<void> {
    const now = this.now() + down * SECOND;
    await this.runtime.stop();
    const { runtime, observer } = await startSystem({ ...options, now });
    this.runtime = runtime;
    this.#observer = observer;
    this.agents = agentApi(runtime.services.agents);
  }

  get services() {
    return this.runtime.services.engine;
  }

  now(): number {
    return this.runtime.clock.now();
  }

  stop(): Promise<void> {
    return this.runtime.stop();
  }

  /** An agent or a person tries again when the service is busy for a moment. */
  async patient<T>(call: () => Promise<T>): Promise<T> {
    for (let round = 1; ; round++) {
      try {
        return await call();
      } catch (error) {
        if (!(error instanceof AppError) || (error.kind !== 'unavailable' && error.kind !== 'stale') || round === 20) throw error;
      }
    }
  }

  async addClusters(specs: readonly ClusterSpec[]): Promise<Host[]> {
    const hosts: Host[] = [];
    for (const spec of specs) {
      const workspace = await this.#workspace(spec);
      const cluster = await this.#cluster(workspace, spec);
      const host = new Host(this, cluster, spec.installed === undefined ? '1.0.0' : spec.installed);
      this.hosts.set(spec.name, host);
      hosts.push(host);
    }
    // Longer than any index may lag: what is new is in every list then.
    await this.advance(10);
    return hosts;
  }

  host(name: string): Host {
    const host = this.hosts.get(name);
    if (host === undefined) throw new Error(`no cluster ${name}`);
    return host;
  }

  token(workspace: string): string {
    return this.#tokens.get(workspace) ?? '';
  }

  async #workspace(spec: ClusterSpec): Promise<Workspace> {
    const name = spec.workspace ?? `ws-${spec.criticality ?? 'none'}`;
    const organization = spec.organization ?? 'acme';
    const known = this.#workspaces.get(`${organization}/${name}`);
    if (known !== undefined) return known;
    const { ids, objects } = this.services;
    const org = derivedId.organization(ids, organization);
    if ((await this.patient(() => objects.get('organization', org, true))) === null)
      await this.patient(() =>
        objects.create('organization', {
          ...newManaged({ id: org, name: organization, now: this.now() }),
          criticality: null,
          contacts: ['ops@acme.example'],
          maintenance_window: null,
        }),
      );
    const id = derivedId.workspace(ids, org, name);
    const workspace = await this.patient(() =>
      objects.create('workspace', {
        ...newManaged({ id, name, now: this.now() }),
        organization: org,
        criticality: spec.criticality ?? null,
        contacts: [],
        maintenance_window: null,
      }),
    );
    this.#workspaces.set(`${organization}/${name}`, workspace);
    await this.#agentKey(workspace);
    return workspace;
  }

  async #agentKey(workspace: Workspace): Promise<void> {
    const id = this.services.ids.fresh();
    const key = makeKey(systemKeyCrypto, 'bra', id);
    await this.patient(() =>
      this.services.objects.create('access_key', {
        ...newManaged({ id, name: `agents of ${workspace.name}`, now: this.now() }),
        prefix: key.prefix,
        secret_hash: key.secret_hash,
        role: 'agent',
        access: 'read_write',
        organization: workspace.organization,
        workspace: workspace.id,
        k8s_cluster: null,
        expires_at: null,
        revoked_at: null,
        last_used_at: null,
      }),
    );
    this.#tokens.set(workspace.id, key.key);
  }

  async #cluster(workspace: Workspace, spec: ClusterSpec): Promise<K8sCluster> {
    const { ids, objects } = this.services;
    const id = derivedId.cluster(ids, workspace.id, spec.name);
    const cluster = await this.patient(() =>
      objects.create('k8s_cluster', {
        ...newManaged({ id, name: spec.name, now: this.now() }),
        labels: spec.labels ?? {},
        organization: workspace.organization,
        workspace: workspace.id,
        active: true,
        rollout_override: { paused: false, pause_reason: null, paused_until: null, version_override: null },
      }),
    );
    await this.patient(() =>
      objects.create('k8s_app', {
        ...newManaged({ id: derivedId.app(ids, id, OPERATOR_APP), name: OPERATOR_APP, now: this.now() }),
        organization: workspace.organization,
        workspace: workspace.id,
        k8s_cluster: id,
        block: null,
        installed_version: spec.installed === undefined ? '1.0.0' : spec.installed,
        last_reconciled: null,
        state: null,
        excluded_from_downtime_until: null,
      }),
    );
    return cluster;
  }

  /** Cases start from these unless they say otherwise: everything at 100 %, no retries. */
  async config(change: Partial<BlockRolloutConfig>, id = operatorConfigId(this.services.ids)): Promise<void> {
    await this.patient(async () => {
      const before = await this.services.objects.get('block_rollout_config', id, true);
      if (before === null) throw new Error(`no config ${id}`);
      await this.services.objects.replace('block_rollout_config', before, { ...before, ...change });
    });
    await this.runtime.services.resources.changes.changed({ type: 'block_rollout_config', id, fields: Object.keys(change) });
  }

  async plainRules(): Promise<void> {
    await this.config(
      {
        max_concurrent_percent: 100,
        failure_threshold_percent: 100,
        max_retries: 0,
        retry_base_seconds: 0,
        quiescence_seconds: 0,
        action_timeout_seconds: 1800,
      },
      systemConfigId(this.services.ids),
    );
  }

  /** Changes settings and lets reconciliation look at the fleet, as the PATCH of the API does. */
  async settings(change: Partial<SystemSettings>): Promise<void> {
    const demand = demandOf(this.services, {});
    await this.patient(async () => {
      const before = await this.services.settings.read();
      await this.services.settings.write(before, { ...before, ...change }, []);
    });
    await this.runtime.services.resources.changes.changed({ type: 'settings', id: 'settings', fields: Object.keys(change) });
    await this.patient(() => raiseDemand(this.services, demand));
    await this.settle();
  }

  /** Everything that happens without time passing. */
  settle(): Promise<void> {
    return this.advance(0);
  }

  async advance(seconds: number): Promise<void> {
    await this.runtime.virtualClock?.advance(this.now() + seconds * SECOND);
  }

  /** Every host takes its turn, then time passes, step by step. */
  async play(seconds: number, step = 30): Promise<void> {
    for (const end = this.now() + seconds * SECOND; this.now() < end; ) {
      await this.turns();
      await this.advance(Math.min(step, (end - this.now()) / SECOND));
    }
  }

  async turns(): Promise<void> {
    for (const host of this.hosts.values()) await host.turn();
    await this.settle();
  }

  /** Plays until this holds; the limit is a fault of the test or of the program. */
  async until(what: () => Promise<boolean>, limit = 240 * MINUTE, step = 30): Promise<void> {
    const end = this.now() + limit;
    while (!(await what())) {
      if (this.now() >= end)
        throw new Error(
          `it did not come to pass in time: ${(await this.waves()).map((w) => `${line(w)} ${w.status} ${w.driver ?? 'no driver'}`).join('; ')}`,
        );
      await this.play(step, step);
    }
  }

  async waves(): Promise<Wave[]> {
    const { ids } = await this.#observer.waveIds({ cursor: null, limit: 1000 });
    const states = await Promise.all(ids.map((id) => this.#observer.wave(id)));
    return states.flatMap((s) => (s === null ? [] : [s.wave])).sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** The newest wave. */
  async wave(): Promise<Wave> {
    const wave = (await this.waves()).at(-1);
    if (wave === undefined) throw new Error('no wave');
    return wave;
  }

  async items(wave: string): Promise<Item[]> {
    const found: Item[] = [];
    for (const organization of await this.#observer.waveOrganizations(wave)) {
      const { ids } = await this.#observer.itemIds(wave, organization, { cursor: null, limit: 1000 });
      found.push(...(await this.#observer.items(ids, true)).values());
    }
    return found;
  }

  /** Operator items in progress as the gate counts them. */
  async updating(): Promise<number> {
    const gate = await this.#observer.gate();
    return gate.started - gate.ended;
  }

  itemOf(cluster: string, items: readonly Item[]): Item {
    const id = this.host(cluster).id;
    const item = items.find((i) => i.k8s_cluster === id && i.block_name === OPERATOR_BLOCK);
    if (item === undefined) throw new Error(`no item for ${cluster}`);
    return item;
  }
}

async function startSystem(options: WorldOptions): Promise<{ runtime: Runtime; observer: EngineStore }> {
  const random = seeded(options.seed ?? 1);
  // The clock exists only once the runtime does; faults are drawn from then on.
  const clean: { sender: Sender | null } = { sender: null };
  const late: { now: () => number } = { now: () => options.now ?? START };
  const runtime = await startRuntime({
    memory: true,
    data: '',
    port: 0,
    virtualClock: options.now ?? START,
    random,
    gatherMs: options.gatherMs ?? 0,
    ...(options.tickMs === undefined ? {} : { tickMs: options.tickMs }),
    ...(options.log === undefined ? {} : { log: options.log }),
    losesAnswers: options.seed !== undefined || options.between !== undefined,
    faults: (sender) => {
      clean.sender = sender;
      if (options.between !== undefined) return options.between(sender);
      return options.seed === undefined ? sender : faulty(sender, late, random, options.shares ?? USUAL_FAULTS);
    },
  });
  late.now = () => runtime.clock.now();
  if (clean.sender === null) throw new Error('the runtime has no table');
  const table = new Table(clean.sender, 'block-rollout', { tries: 1, pause: () => Promise.resolve() });
  return { runtime, observer: new DynamoEngineStore(table) };
}

export const line = ({ counters: c }: Wave): string => `${c.total} = ${c.done}+${c.in_progress}+${c.pending}+${c.failed}+${c.skipped}`;

export const names = (n: number, prefix = 'c'): ClusterSpec[] => Array.from({ length: n }, (_, i) => ({ name: `${prefix}${i + 1}` }));
