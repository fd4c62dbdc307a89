import type { Instant } from '../../domain/shared/time.ts';
import { SECOND } from '../../domain/shared/time.ts';
import { AppError } from '../errors.ts';
import type { AccessKey } from '../ports.ts';
import type { AgentServices } from './services.ts';

/** Who a key speaks for. Workspace, organization and cluster of a key never change, nor do their names. */
export interface Scope {
  readonly key_id: string;
  readonly key_hash: string;
  readonly organization: string;
  readonly organization_name: string;
  readonly workspace: string;
  readonly workspace_name: string;
  /** null = any cluster of the workspace. */
  readonly k8s_cluster: string | null;
  readonly k8s_cluster_name: string | null;
  readonly expires_at: Instant | null;
}

/** DESIGN §6: a bad key is remembered for so long per process. */
const BAD_KEY_MEMORY = 60 * SECOND;
const MOST_REMEMBERED = 50_000;

export const unauthenticated = (detail: string): AppError =>
  new AppError('unauthenticated', [{ code: 'authentication_failed', detail, attr: null }]);
export const forbidden = (detail: string): AppError => new AppError('forbidden', [{ code: 'permission_denied', detail, attr: null }]);

/**
 * Proves keys. `known` answers from memory: the heartbeat's own write proves again that the key is the accepted one and not revoked, so the
 * memory only saves the read; a key's end never changes and is remembered with it. `proven` and `accepted` go by the key row as it is now
 * (claim, progress, finish, registration).
 */
export class AgentKeys {
  readonly #services: AgentServices;
  readonly #scopes = new Map<string, Scope>();
  readonly #bad = new Map<string, Instant>();
  readonly #agents = new Map<string, string>();

  constructor(services: AgentServices) {
    this.#services = services;
  }

  async known(token: string): Promise<Scope> {
    const read = this.#read(token);
    const scope = this.#scopes.get(read.hash);
    const over = scope?.expires_at != null && scope.expires_at <= this.#services.clock.now();
    return scope === undefined || over ? this.proven(token) : scope;
  }

  async proven(token: string): Promise<Scope> {
    return this.accepted(token, await this.#services.objects.get('access_key', this.idOf(token), true));
  }

  /** Whose row to read for this key; refused where its text already is wrong. */
  idOf(token: string): string {
    return this.#read(token).key_id;
  }

  /** The same, with the agent that last reported with this key from this host: where to look first, never a proof. */
  callerOf(token: string, host: string): { readonly key_id: string; readonly hint: string | null } {
    const { key_id, hash } = this.#read(token);
    return { key_id, hint: this.#agents.get(`${hash} ${host}`) ?? null };
  }

  /** This agent reports with this key from this host. */
  heard(key_hash: string, host: string, agent: string): void {
    remember(this.#agents, `${key_hash} ${host}`, agent);
  }

  /** Judges a key by its row, which was just read. */
  async accepted(token: string, key: AccessKey | null): Promise<Scope> {
    const read = this.#read(token);
    const refusal = this.#refusal(token, key);
    if (refusal !== null || key === null) {
      this.#scopes.delete(read.hash);
      remember(this.#bad, read.hash, this.#services.clock.now());
      throw unauthenticated(refusal ?? UNKNOWN);
    }
    if (key.role !== 'agent') throw forbidden('This is not an agent key; make one with POST /api/v1/agent-keys/.');
    const scope = this.#scopes.get(read.hash) ?? (await this.#scopeOf(read, key));
    remember(this.#scopes, read.hash, scope);
    return scope;
  }

  /** A key that was just proven in another process may still be remembered as bad here for a minute. */
  #read(token: string): { key_id: string; hash: string } {
    const read = this.#services.tokens.read(token);
    if (read === null) throw unauthenticated('The key is not complete or was mistyped; copy it again.');
    const since = this.#bad.get(read.hash);
    if (since === undefined) return read;
    if (this.#services.clock.now() - since < BAD_KEY_MEMORY) throw unauthenticated(UNKNOWN);
    this.#bad.delete(read.hash);
    return read;
  }

  #refusal(token: string, key: AccessKey | null): string | null {
    if (key === null || !this.#services.tokens.proves(token, key)) return UNKNOWN;
    if (key.revoked_at !== null || key.archived) return 'The key was revoked; make a new one with POST /api/v1/agent-keys/.';
    if (key.expires_at !== null && key.expires_at <= this.#services.clock.now())
      return 'The key has expired; make a new one with POST /api/v1/agent-keys/.';
    return null;
  }

  async #scopeOf(read: { key_id: string; hash: string }, key: AccessKey): Promise<Scope> {
    const { objects } = this.#services;
    const [workspace, cluster] = await Promise.all([
      key.workspace === null ? null : objects.get('workspace', key.workspace),
      key.k8s_cluster === null ? null : objects.get('k8s_cluster', key.k8s_cluster),
    ]);
    const organization = workspace === null ? null : await objects.get('organization', workspace.organization);
    if (workspace === null || organization === null)
      throw forbidden('The key belongs to no workspace; make a new one with POST /api/v1/agent-keys/.');
    return {
      key_id: read.key_id,
      key_hash: read.hash,
      organization: organization.id,
      organization_name: organization.name,
      workspace: workspace.id,
      workspace_name: workspace.name,
      k8s_cluster: key.k8s_cluster,
      k8s_cluster_name: cluster?.name ?? null,
      expires_at: key.expires_at,
    };
  }
}

const UNKNOWN = 'The key is unknown; make one with POST /api/v1/agent-keys/.';

function remember<V>(memory: Map<string, V>, name: string, value: V): void {
  if (memory.size >= MOST_REMEMBERED) memory.clear();
  memory.set(name, value);
}
