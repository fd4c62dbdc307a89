import { createWriteStream, existsSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';

const KEEP_BYTES = 20 * 1024 * 1024;

/** What functions log goes into the data folder, since the terminal shows the rollout; a long file is set aside once. */
export function logFile(folder: string): { write(line: string): void; close(): Promise<void> } {
  const file = join(folder, 'log.jsonl');
  if (existsSync(file) && statSync(file).size > KEEP_BYTES) renameSync(file, join(folder, 'log.old.jsonl'));
  const stream = createWriteStream(file, { flags: 'a' });
  // A full disk must not end the service; the table says so on its own.
  stream.on('error', () => undefined);
  return {
    write: (line) => void stream.write(`${line}\n`),
    close: () => new Promise((resolve) => stream.end(resolve)),
  };
}
