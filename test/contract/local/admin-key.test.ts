import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemKeyCrypto } from '../../../lib/adapters/system/key-crypto.ts';
import { readKey } from '../../../lib/app/keys/format.ts';
import { adminKey, adminKeyFile } from '../../../local/admin-key.ts';
import { type Embedded, embedded } from '../../support/embedded.ts';

describe('the administrator key of a data folder', () => {
  let table: Embedded;
  let folder: string;
  beforeAll(async () => {
    table = await embedded();
  });
  afterAll(() => table.stop());
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'admin-key-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const stored = async (key: string) => table.objects.get('access_key', readKey(systemKeyCrypto, key)?.key_id ?? '', true);

  it('is an administrator’s, kept for its owner only, and the same at the next start', async () => {
    const key = await adminKey(table, folder);
    expect(await stored(key)).toMatchObject({ role: 'platform_admin', access: 'read_write', secret_hash: systemKeyCrypto.sha256(key) });
    expect(readFileSync(adminKeyFile(folder), 'utf8')).toBe(`${key}\n`);
    expect(statSync(adminKeyFile(folder)).mode & 0o777).toBe(0o600);
    expect(await adminKey(table, folder)).toBe(key);
  });

  it('is completed when the start before ended between file and record', async () => {
    const key = await adminKey(table, folder);
    const other = mkdtempSync(join(tmpdir(), 'admin-key-'));
    writeFileSync(adminKeyFile(other), `${key}\n`);
    const empty = await embedded();
    try {
      expect(await adminKey(empty, other)).toBe(key);
      expect(await empty.objects.get('access_key', readKey(systemKeyCrypto, key)?.key_id ?? '')).not.toBeNull();
    } finally {
      await empty.stop();
      rmSync(other, { recursive: true });
    }
  });

  it('is replaced when it was revoked, and when the file holds something else', async () => {
    const key = await adminKey(table, folder);
    const record = await stored(key);
    if (record === null) throw new Error('no record');
    await table.objects.replace('access_key', record, { ...record, revoked_at: table.clock.now() });
    const next = await adminKey(table, folder);
    expect(next).not.toBe(key);
    writeFileSync(adminKeyFile(folder), 'hello\n');
    expect([key, next]).not.toContain(await adminKey(table, folder));
  });

  it('is a new one each time without a folder', async () => {
    expect(await adminKey(table, null)).not.toBe(await adminKey(table, null));
  });
});
