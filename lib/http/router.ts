import type { NamedRoute } from '../contracts/api/route.ts';
import { refuse } from './failure.ts';

interface Node<T> {
  readonly words: Map<string, Node<T>>;
  any: Node<T> | null;
  readonly methods: Map<string, T>;
}

const node = <T>(): Node<T> => ({ words: new Map(), any: null, methods: new Map() });
const BASE = '/api/v1/';

export interface Match<T> {
  readonly route: T;
  readonly id: string;
}

/** A tree of path segments, made once; one lookup is a split and a few map reads. One final slash more or less is the same path. */
export class Router<T extends Pick<NamedRoute, 'spec'>> {
  readonly #root = node<T>();

  constructor(routes: readonly T[]) {
    for (const route of routes) for (const path of [route.spec.path, ...(route.spec.aliases ?? [])]) this.#add(path, route);
  }

  #add(path: string, route: T): void {
    let at = this.#root;
    for (const segment of path.split('/')) {
      if (segment === '{id}') at.any ??= node();
      else if (!at.words.has(segment)) at.words.set(segment, node());
      at = (segment === '{id}' ? at.any : at.words.get(segment)) ?? at;
    }
    at.methods.set(route.spec.method, route);
  }

  match(method: string, rawPath: string): Match<T> {
    const path = rawPath.endsWith('/') ? rawPath.slice(0, -1) : rawPath;
    if (!path.startsWith(BASE)) throw unknownPath(rawPath);
    let at = this.#root;
    let id = '';
    for (const segment of path.slice(BASE.length).split('/')) {
      const word = at.words.get(segment);
      if (word === undefined && at.any !== null) id = idOf(segment, rawPath);
      const next = word ?? at.any;
      if (next === null) throw unknownPath(rawPath);
      at = next;
    }
    const route = at.methods.get(method);
    if (route !== undefined) return { route, id };
    if (at.methods.size === 0) throw unknownPath(rawPath);
    const allowed = [...at.methods.keys()].join(', ');
    throw refuse(405, 'method_not_allowed', `${method} is not possible here; possible: ${allowed}.`, { allow: allowed });
  }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** What is not an id names nothing. */
function idOf(segment: string, path: string): string {
  const id = segment.toLowerCase();
  if (!UUID.test(id)) throw unknownPath(path);
  return id;
}

const unknownPath = (path: string) =>
  refuse(404, 'not_found', `There is nothing at ${path.slice(0, 200)}; GET /api/v1/schema/ lists what there is.`);
