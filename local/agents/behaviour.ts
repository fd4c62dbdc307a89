import { hash } from 'node:crypto';
import type { FleetFile, Simulation } from '../../lib/contracts/fleet.ts';
import { matches, parseSelector } from '../../lib/domain/demand/selector.ts';
import type { Labels } from '../../lib/domain/shared/fleet.ts';

/** How one cluster's virtual agent behaves (SPEC §13 `simulation`). */
export interface Behaviour {
  readonly seconds: readonly [number, number];
  readonly fail: number | string;
  readonly silent: boolean;
}

/** One place where a virtual agent lives: a cluster, or a workspace that has blocks of its own. */
export interface Place {
  /** organization/workspace/cluster, or organization/workspace. */
  readonly path: string;
  readonly organization: string;
  readonly workspace: string;
  readonly cluster: string | null;
  /** What runs there, by app name. */
  readonly apps: ReadonlyMap<string, string | null>;
  /** The app of each block, where the file names one. */
  readonly appOfBlock: ReadonlyMap<string, string>;
  readonly behaviour: Behaviour;
}

const DEFAULT: Behaviour = { seconds: [2, 8], fail: 0, silent: false };

export function placesOf(fleet: FleetFile): Place[] {
  const rules = compile(fleet.simulation ?? {});
  return (fleet.organizations ?? []).flatMap((organization) =>
    (organization.workspaces ?? []).flatMap((workspace) => {
      const labels = { ...organization.labels, ...workspace.labels };
      const path = `${organization.name}/${workspace.name}`;
      const where = { organization: organization.name, workspace: workspace.name };
      const own = (workspace.blocks ?? []).length === 0 ? [] : [place({ ...where, path, cluster: null }, {}, rules(labels, null))];
      const clusters = (workspace.clusters ?? [])
        .filter((cluster) => cluster.active !== false)
        .map((cluster) => {
          const name = `${path}/${cluster.name}`;
          return place({ ...where, path: name, cluster: cluster.name }, cluster, rules({ ...labels, ...cluster.labels }, name));
        });
      return [...own, ...clusters];
    }),
  );
}

type Where = Pick<Place, 'path' | 'organization' | 'workspace' | 'cluster'>;
type Content = Pick<
  NonNullable<NonNullable<NonNullable<FleetFile['organizations']>[number]['workspaces']>[number]['clusters']>[number],
  'apps' | 'blocks'
>;

function place(where: Where, content: Content | Record<string, never>, behaviour: Behaviour): Place {
  const { apps, blocks } = content as Content;
  return {
    ...where,
    apps: new Map((apps ?? []).map((app) => [app.name, app.installed_version])),
    appOfBlock: new Map((blocks ?? []).flatMap((block) => (block.app == null ? [] : [[block.name, block.app] as const]))),
    behaviour,
  };
}

/** Every rule that matches adds its fields; of several that say the same, the last one counts. */
function compile(simulation: Simulation): (labels: Labels, path: string | null) => Behaviour {
  const rules = (simulation.rules ?? []).map(({ match, cluster, ...fields }) => {
    if (match === undefined) return { fields, applies: (_labels: Labels, path: string | null) => path === cluster };
    const parsed = parseSelector(match);
    if (!parsed.ok) throw new Error(`simulation: "${match}" is not a label selector: ${parsed.reason}`);
    return { fields, applies: (labels: Labels) => matches(parsed.selector, labels) };
  });
  return (labels, path) => {
    const found = rules.filter((rule) => rule.applies(labels, path)).map(({ fields }) => fields);
    return Object.assign({}, DEFAULT, ...[simulation.default ?? {}, ...found].map(defined)) as Behaviour;
  };
}

const defined = (fields: object): object => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** The same seed and the same words always give the same number in [0, 1). */
export function draw(seed: number, ...words: readonly (string | number)[]): number {
  return hash('sha256', `${seed}|${words.join('|')}`, 'buffer').readUInt32BE(0) / 2 ** 32;
}

export function workSeconds(seed: number, place: Place, block: string, attempt: number): number {
  const [shortest, longest] = place.behaviour.seconds;
  return shortest + draw(seed, 'seconds', place.path, block, attempt) * (longest - shortest);
}

export function fails(seed: number, place: Place, block: string, attempt: number): boolean {
  const { fail } = place.behaviour;
  if (fail === 'always') return true;
  if (typeof fail === 'string') return attempt <= Number(fail.slice('first:'.length));
  return draw(seed, 'fail', place.path, block, attempt) < fail;
}

/** UID of the place's kube-system namespace: a UUID that follows from its path. */
export function uidOf(path: string): string {
  const hex = hash('sha256', `uid|${path}`, 'hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
