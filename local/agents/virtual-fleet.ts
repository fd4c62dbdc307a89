import { setMaxListeners } from 'node:events';
import { AgentClient, Connections } from '../../cli/agent-client.ts';
import type { Clock } from '../../lib/app/ports.ts';
import type { FleetFile } from '../../lib/contracts/fleet.ts';
import type { Activity } from '../activity.ts';
import { ApiClient } from '../api-client.ts';
import { placesOf } from './behaviour.ts';
import { makeKeys, restore } from './enroll.ts';
import { Turns } from './turns.ts';
import { type AgentWorld, VirtualAgent, VirtualCluster } from './virtual-agent.ts';

export interface VirtualFleetOptions {
  readonly baseUrl: string;
  readonly adminKey: string;
  readonly fleet: FleetFile;
  readonly clock: Clock;
  readonly activity: Activity | null;
  /** Divides the time that work takes and the time between two reports; the product's own rules keep their times. */
  readonly speed: number;
  /** Requests under way at once: with more to do than that, the fleet goes as fast as the service. */
  readonly concurrency?: number;
  readonly say?: (line: string) => void;
}

export interface VirtualFleet {
  readonly agents: number;
  /** Resolves when each agent has reported for the first time, or tried to in vain. */
  readonly connected: Promise<void>;
  stop(): Promise<void>;
  /** As a node that loses its power: what the agent of organization/workspace/cluster was doing is forgotten, it reports nothing. */
  kill(path: string): void;
  restart(path: string): void;
}

/** Idle polls of a fleet that is sped up take at most so many requests a second. */
const IDLE_POLLS_PER_SECOND = 400;

/** Agents for every cluster of a fleet file, speaking HTTP like real ones (SPEC §13 `simulation`). */
export async function startVirtualFleet(options: VirtualFleetOptions): Promise<VirtualFleet> {
  const { fleet, baseUrl, clock, activity, speed, concurrency = 32 } = options;
  const end = new AbortController();
  setMaxListeners(0, end.signal);
  const connections = new Connections(baseUrl, concurrency);
  const api = new ApiClient(baseUrl, options.adminKey);
  const clusters = new Map(
    placesOf(fleet)
      .filter((p) => !p.behaviour.silent)
      .map((place) => [place.path, new VirtualCluster(place)]),
  );
  const keys = await makeKeys(api, new Set([...clusters.values()].map(workspaceOf)), end.signal);
  await restore(api, clusters);
  const world: AgentWorld = {
    clock,
    activity,
    speed,
    turns: new Turns(concurrency),
    seed: fleet.simulation?.seed ?? 1,
    idleMs: (clusters.size * 1000) / IDLE_POLLS_PER_SECOND,
    say: options.say ?? (() => undefined),
  };
  const lives = new Map<string, { readonly life: AbortController; readonly ended: Promise<void> }>();
  const start = (cluster: VirtualCluster): VirtualAgent => {
    const { path } = cluster.place;
    const client = new AgentClient(connections, keys.get(workspaceOf(cluster)) ?? '', cluster.place.cluster === null ? null : cluster.uid);
    const life = new AbortController();
    const agent = new VirtualAgent(world, cluster, client, AbortSignal.any([end.signal, life.signal]));
    lives.set(path, { life, ended: agent.live() });
    return agent;
  };
  const first = [...clusters.values()].map(start);
  return {
    agents: first.length,
    connected: Promise.all(first.map((agent) => agent.connected)).then(() => undefined),
    stop: async () => {
      end.abort();
      await Promise.all([...lives.values()].map(({ ended }) => ended));
      connections.close();
    },
    kill: (path) => lives.get(path)?.life.abort(),
    restart: (path) => {
      const cluster = clusters.get(path);
      if (cluster !== undefined && lives.get(path)?.life.signal.aborted === true) start(cluster);
    },
  };
}

const workspaceOf = ({ place }: VirtualCluster): string => `${place.organization}/${place.workspace}`;
