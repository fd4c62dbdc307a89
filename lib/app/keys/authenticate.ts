import { HOUR, SECOND } from '../../domain/shared/time.ts';
import { AppError } from '../errors.ts';
import type { AccessKey, Clock, Logger, ObjectStore } from '../ports.ts';
import { type KeyCrypto, readKey } from './format.ts';

/** Who is calling. */
export interface Caller {
  readonly key_id: string;
  readonly name: string;
  readonly prefix: string;
  readonly role: AccessKey['role'];
  readonly access: AccessKey['access'];
  readonly organization: string | null;
  readonly workspace: string | null;
  readonly k8s_cluster: string | null;
  readonly expires_at: number | null;
}

export interface AuthServices {
  readonly clock: Clock;
  readonly objects: ObjectStore;
  readonly crypto: KeyCrypto;
  readonly log: Logger;
}

/** The text that audits and items show for a caller. */
export const actorOf = (caller: Pick<Caller, 'name' | 'prefix'>): string => `${caller.name} (${caller.prefix})`;

const refused = (detail: string, code: 'authentication_failed' | 'not_authenticated' = 'authentication_failed'): AppError =>
  new AppError('unauthenticated', [{ code, detail, attr: null }]);

export const NO_KEY = 'Send your key as "Authorization: Bearer brk_…"; POST /api/v1/api-keys/ makes one.';
const UNKNOWN = 'The key is unknown. Copy it again, or ask an administrator for a new one.';

/** DESIGN §6: a bad key is remembered for so long per process, so that guessing costs no reads. */
const BAD_KEY_MEMORY = 60 * SECOND;
const MOST_REMEMBERED = 10_000;
/** `last_used_at` is kept to the hour: it tells whether a key is still in use, not when. */
const USE_NOTED_EVERY = HOUR;

/** Proves the keys of people and tells who they are; agents' own routes prove theirs in their use cases. */
export class Authenticator {
  readonly #services: AuthServices;
  readonly #bad = new Map<string, number>();

  constructor(services: AuthServices) {
    this.#services = services;
  }

  /** @param header the Authorization header as it came */
  async authenticate(header: string | undefined): Promise<Caller> {
    const read = this.#read(header);
    const key = await this.#services.objects.get('access_key', read.key_id, true);
    const now = this.#services.clock.now();
    if (key === null || !this.#services.crypto.equal(read.hash, key.secret_hash)) {
      this.#rememberBad(read.hash, now);
      throw refused(UNKNOWN);
    }
    if (key.revoked_at !== null || key.archived) throw refused('The key was revoked; ask an administrator for a new one.');
    if (key.expires_at !== null && key.expires_at <= now) throw refused('The key has expired; ask an administrator for a new one.');
    await this.#noteUse(key, now);
    return callerOf(key);
  }

  #read(header: string | undefined) {
    if (header === undefined || header === '') throw refused(NO_KEY, 'not_authenticated');
    const token = bearerToken(header);
    if (token === null) throw refused(NO_KEY);
    const read = readKey(this.#services.crypto, token);
    if (read === null) throw refused('The key is not complete or was mistyped; copy it again.');
    const since = this.#bad.get(read.hash);
    if (since === undefined) return read;
    if (this.#services.clock.now() - since < BAD_KEY_MEMORY) throw refused(UNKNOWN);
    this.#bad.delete(read.hash);
    return read;
  }

  #rememberBad(hash: string, now: number): void {
    if (this.#bad.size >= MOST_REMEMBERED) this.#bad.clear();
    this.#bad.set(hash, now);
  }

  /** Best effort: whoever was faster has noted it. */
  async #noteUse(key: AccessKey, now: number): Promise<void> {
    if (key.last_used_at !== null && now - key.last_used_at < USE_NOTED_EVERY) return;
    try {
      await this.#services.objects.replace('access_key', key, { ...key, last_used_at: now });
    } catch (error) {
      this.#services.log.info('key_use_not_noted', { key_id: key.id, error: String(error) });
    }
  }
}

const callerOf = (key: AccessKey): Caller => ({
  key_id: key.id,
  name: key.name,
  prefix: key.prefix,
  role: key.role,
  access: key.access,
  organization: key.organization,
  workspace: key.workspace,
  k8s_cluster: key.k8s_cluster,
  expires_at: key.expires_at,
});

export function bearerToken(header: string): string | null {
  return /^bearer +([^\s]+) *$/i.exec(header)?.[1] ?? null;
}
