import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartProblem } from './problem.ts';

/** Grows when rows written by an earlier version can no longer be read as they are. */
const FORMAT = 2;
const FORMAT_FILE = 'format.json';
const LOCK_FILE = 'lock.db';

export interface DataFolder {
  /** Where the embedded table keeps its rows. */
  readonly tableFile: string;
  readonly path: string;
  /** True when nothing had been kept here before. */
  readonly empty: boolean;
  close(): void;
}

/**
 * Opens `.data/` for this process alone. The lock is one of the operating system (held through SQLite), so it ends with the process,
 * however that ends. A folder of another version, or of something else, is left untouched.
 */
export function openDataFolder(folder: string, options: { readonly fresh?: boolean } = {}): DataFolder {
  const path = resolve(folder);
  try {
    checkFormat(path);
    mkdirSync(path, { recursive: true });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code === null) throw error;
    throw new StartProblem(`${path} cannot be a data folder (${code}). Name another with --data, or start with --memory.`);
  }
  const lock = lockFolder(path);
  if (options.fresh === true)
    for (const file of readdirSync(path)) if (!file.startsWith(LOCK_FILE)) rmSync(join(path, file), { recursive: true });
  const tableFile = join(path, 'table.db');
  const empty = !existsSync(tableFile);
  writeFormat(path);
  return { path, tableFile, empty, close: () => lock.close() };
}

function checkFormat(path: string): void {
  if (!existsSync(path)) return;
  const files = readdirSync(path).filter((file) => !file.startsWith(LOCK_FILE));
  if (files.length === 0) return;
  if (!files.includes(FORMAT_FILE))
    throw new StartProblem(
      `${path} holds other files and is not a data folder of Block Rollout. Name another with --data, or an empty one.`,
    );
  const found = readFormat(path);
  if (found === FORMAT) return;
  const whose = found > FORMAT ? 'a newer' : 'an older';
  throw new StartProblem(
    `The data in ${path} was written by ${whose} version (format ${found}, this one reads ${FORMAT}). Nothing was changed. ` +
      `Start it with that version, or move the folder away to begin anew.`,
  );
}

function readFormat(path: string): number {
  const file = join(path, FORMAT_FILE);
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof value === 'object' && value !== null && 'format' in value && Number.isInteger(value.format)) return Number(value.format);
  } catch {
    // Answered below: whatever stands there is no format.
  }
  throw new StartProblem(
    `${file} cannot be read, so it is unknown which version wrote the data. Nothing was changed. Move the folder away to begin anew.`,
  );
}

function writeFormat(path: string): void {
  const file = join(path, FORMAT_FILE);
  if (existsSync(file)) return;
  writeFileSync(`${file}.new`, `${JSON.stringify({ product: 'block-rollout', format: FORMAT })}\n`);
  renameSync(`${file}.new`, file);
}

function lockFolder(path: string): DatabaseSync {
  const database = new DatabaseSync(join(path, LOCK_FILE), { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database.close();
    if (!(error instanceof Error) || !/locked|busy/i.test(error.message)) throw error;
    throw new StartProblem(
      `Another process is using the data in ${path}. Stop it first, or name another folder with --data, or start with --memory.`,
    );
  }
}
