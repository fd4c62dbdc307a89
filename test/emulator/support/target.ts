import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** Ignored by git: what is made once, and the logs of the last run. */
export const CACHE = join(ROOT, '.emulator');

/** Somewhere to deploy to. */
export interface Running {
  /** Address, credentials, region and stage, as the CDK and the SDK read them. */
  readonly env: Readonly<Record<string, string>>;
  readonly account: string;
  /** Where the API answers, from the address that the stack puts out. */
  apiBase(url: string): string;
  stop(): Promise<void>;
}

/** This machine does not have what the target needs: no failure of the product. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
}
