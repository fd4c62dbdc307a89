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

/** All of it, but for what rolls something out: the operator's version is not set, and no config of the file is active. */
export const quietPart = ({ fleet, file }: FleetSource): FleetSource => {
  const { OPERATOR_BLOCK_VERSION: _version, ...settings } = fleet.system_config ?? {};
  const rollout_configs = (fleet.rollout_configs ?? []).map((config) =>
    config['kind'] === 'config' ? config : { ...config, active: false },
  );
  return sourceOf(file, { ...fleet, system_config: settings, rollout_configs });
};

/** What `quietPart` has changed, as the file has it. */
export const rolloutsOnly = ({ fleet, file }: FleetSource): FleetSource => {
  const { apiVersion, system_config, rollout_configs } = fleet;
  return sourceOf(file, { apiVersion, ...(system_config === undefined ? {} : { system_config }), rollout_configs });
};

/** A file of settings alone has no agents: those of the fleet before it play on. */
export const hasPlaces = ({ fleet }: FleetSource): boolean => (fleet.organizations ?? []).length > 0;

const sourceOf = (file: string, fleet: FleetFile): FleetSource => ({ file, text: JSON.stringify(fleet), fleet });

const REMEMBERED = 'fleet.yaml';
const IMPORTING = 'importing.yaml';

/** Before an import: the start after a crash in the middle of it imports the file again, which leaves alone what is there already. */
export function beginImport(folder: string, source: FleetSource): void {
  const file = join(folder, IMPORTING);
  writeFileSync(`${file}.new`, source.text);
  renameSync(`${file}.new`, file);
}

/** The virtual agents of a later start play the fleet that was imported last. */
export function importDone(folder: string, source: FleetSource): void {
  const file = join(folder, IMPORTING);
  if (hasPlaces(source)) renameSync(file, join(folder, REMEMBERED));
  else rmSync(file, { force: true });
}

/** A fleet that was refused is not tried again by itself. */
export function importRefused(folder: string): void {
  rmSync(join(folder, IMPORTING), { force: true });
}

export const unfinishedImport = (folder: string): FleetSource | null => kept(join(folder, IMPORTING));

export const rememberedFleet = (folder: string): FleetSource | null => kept(join(folder, REMEMBERED));

const kept = (file: string): FleetSource | null => (existsSync(file) ? readFleet(file) : null);
