import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkFleet, mistakeLine } from '../lib/app/import/check.ts';
import { configBuilder } from '../lib/app/import/config-builder.ts';
import type { FleetFile } from '../lib/contracts/fleet.ts';
import { parseSelector } from '../lib/domain/demand/selector.ts';

/** A fleet file that has been read and is right. */
export interface FleetSource {
  readonly file: string;
  readonly text: string;
  readonly fleet: FleetFile;
}

/** A fleet file that cannot be used: every mistake, and what to do. */
export class FleetProblem extends Error {
  override readonly name = 'FleetProblem';
}

export const EXAMPLE_FLEET = fileURLToPath(new URL('../examples/fleet.yaml', import.meta.url));
const MAX_SHOWN = 100;

export function readFleet(file: string): FleetSource {
  const text = readText(file);
  const checked = checkFleet(text, { config: (fields) => configBuilder.check(fields), selector: selectorProblem });
  if (checked.ok) return { file, text, fleet: checked.fleet };
  const { mistakes } = checked;
  const more = mistakes.length > MAX_SHOWN ? [`… and ${mistakes.length - MAX_SHOWN} more`] : [];
  const count = mistakes.length === 1 ? 'There is a mistake' : `There are ${mistakes.length} mistakes`;
  const lines = mistakes.slice(0, MAX_SHOWN).map((mistake) => mistakeLine(file, mistake));
  throw new FleetProblem([...lines, ...more, `${count} in ${file}. Nothing was imported; correct the file and start again.`].join('\n'));
}

function readText(file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    throw new FleetProblem(`${file} ${REASONS[code] ?? 'cannot be read'}. Name a fleet file with --fleet, such as examples/fleet.yaml.`);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EISDIR: 'is a folder, not a file',
  EACCES: 'may not be read by you',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'is not UTF-8 text',
};

function selectorProblem(text: string): string | null {
  const parsed = parseSelector(text);
  return parsed.ok ? null : `character ${parsed.position}: ${parsed.reason}`;
}

/** The places and what stands there, without what rolls anything out: that comes when their agents have reported. */
export const placesOnly = ({ fleet, file }: FleetSource): FleetSource => {
  const { organizations = [] } = fleet;
  const places = { apiVersion: fleet.apiVersion, organizations };
  return { file, text: JSON.stringify(places), fleet: places };
};

const REMEMBERED = 'fleet.yaml';
const IMPORTING = 'importing.yaml';

/** Before an import: the start after a crash in the middle of it imports the file again, which leaves alone what is there already. */
export function beginImport(folder: string, source: FleetSource): void {
  const file = join(folder, IMPORTING);
  writeFileSync(`${file}.new`, source.text);
  renameSync(`${file}.new`, file);
}

/** The virtual agents of a later start play the fleet that was imported last. */
export function importDone(folder: string): void {
  renameSync(join(folder, IMPORTING), join(folder, REMEMBERED));
}

/** A fleet that was refused is not tried again by itself. */
export function importRefused(folder: string): void {
  rmSync(join(folder, IMPORTING));
}

export const unfinishedImport = (folder: string): FleetSource | null => kept(join(folder, IMPORTING));

export const rememberedFleet = (folder: string): FleetSource | null => kept(join(folder, REMEMBERED));

const kept = (file: string): FleetSource | null => (existsSync(file) ? readFleet(file) : null);
