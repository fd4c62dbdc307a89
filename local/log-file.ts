import { createWriteStream, existsSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { jsonLog } from '../lib/adapters/observability/log.ts';
import type { Clock, Logger } from '../lib/app/ports.ts';

const KEEP_BYTES = 20 * 1024 * 1024;

/** What functions log goes into the data folder, since the terminal shows the rollout; a long file is set aside once. */
export function logFile(folder: string, clock: Clock): { readonly log: Logger; close(): Promise<void> } {
  const file = join(folder, 'log.jsonl');
  if (existsSync(file) && statSync(file).size > KEEP_BYTES) renameSync(file, join(folder, 'log.old.jsonl'));
  const stream = createWriteStream(file, { flags: 'a' });
  // A full disk must not end the service; the table says so on its own.
  stream.on('error', () => undefined);
  return {
    log: jsonLog(clock, (line) => void stream.write(`${line}\n`)),
    close: () => new Promise((resolve) => stream.end(resolve)),
  };
}

export const noLog: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined };
