import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemKeyCrypto } from '../lib/adapters/system/key-crypto.ts';
import { AppError } from '../lib/app/errors.ts';
import { makeKey, readKey } from '../lib/app/keys/format.ts';
import type { Clock, Ids, ObjectStore } from '../lib/app/ports.ts';
import { adminKeyRecord } from '../lib/app/resources/access-keys.ts';

const FILE = 'admin-key';

interface Needs {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly objects: Pick<ObjectStore, 'get' | 'create'>;
}

/** Where the key of a data folder is kept. */
export const adminKeyFile = (folder: string): string => join(folder, FILE);

/**
 * The administrator key of this installation. The file in the data folder is written first and the record made from it, so that a crash in
 * between leaves a key that the next start completes. A revoked or foreign key is replaced. Without a folder a new key is made each time.
 */
export async function adminKey(needs: Needs, folder: string | null): Promise<string> {
  const kept = folder === null ? null : readKept(adminKeyFile(folder));
  if (kept !== null && (await isGood(needs, kept))) return kept;
  const { key } = makeKey(systemKeyCrypto, 'brk', needs.ids.fresh());
  if (folder !== null) writeSecret(adminKeyFile(folder), key);
  await record(needs, key);
  return key;
}

/** For its owner's eyes only. */
export function writeSecret(file: string, text: string): void {
  writeFileSync(file, `${text}\n`, { mode: 0o600 });
  chmodSync(file, 0o600);
}

function readKept(file: string): string | null {
  if (!existsSync(file)) return null;
  const text = readFileSync(file, 'utf8').trim();
  return readKey(systemKeyCrypto, text) === null ? null : text;
}

async function isGood(needs: Needs, key: string): Promise<boolean> {
  const read = readKey(systemKeyCrypto, key);
  if (read === null) return false;
  const stored = await needs.objects.get('access_key', read.key_id, true);
  if (stored === null) await record(needs, key);
  else if (stored.revoked_at !== null || stored.secret_hash !== read.hash) return false;
  return true;
}

async function record(needs: Needs, key: string): Promise<void> {
  const read = readKey(systemKeyCrypto, key);
  if (read === null) throw new Error('a key of our own making is not one of ours');
  try {
    await needs.objects.create(
      'access_key',
      adminKeyRecord({ id: read.key_id, name: 'local administrator', secret_hash: read.hash, now: needs.clock.now() }),
    );
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== 'conflict') throw error;
  }
}
