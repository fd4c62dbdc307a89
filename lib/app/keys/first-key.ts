import { seed } from '../engine/seed.ts';
import { conflict } from '../errors.ts';
import { createApiKey, type MadeApiKey, openAdminKeys } from '../resources/access-keys.ts';
import type { Services } from '../services.ts';

export interface FirstKey {
  readonly name: string;
  /** Also when there is a key that can change anything already. */
  readonly force: boolean;
}

/**
 * The key that makes all others, for whoever may write to the table itself (SPEC §9 Access). Makes the seeded configs too, so that an installation
 * is complete before anybody can call it. Throws `conflict`, with the keys there are, unless forced.
 */
export async function makeFirstKey(services: Pick<Services, 'engine' | 'resources'>, { name, force }: FirstKey): Promise<MadeApiKey> {
  const there = await openAdminKeys(services.resources);
  if (there.length > 0 && !force) {
    const names = there.map((key) => `"${key.name}" (${key.prefix}…)`).join(', ');
    throw conflict(
      `There is an administrator's key already: ${names}. Make more with POST /api/v1/api-keys/, or use --force if it is lost.`,
    );
  }
  await seed(services.engine);
  return createApiKey(services.resources, { name }, 'npm run admin-key');
}
