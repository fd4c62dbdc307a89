import valid from 'semver/functions/valid.js';
import type * as z from 'zod';
import { type FleetFile, fleetFile } from '../../contracts/fleet.ts';
import { valueProblems } from '../../contracts/object-keys.ts';
import { parseWindow } from '../../domain/windows/parse-window.ts';
import type { TemplateProblem, Templates } from '../engine/check-templates.ts';
import { type Mistake, type Path, readStrictYaml, type StrictYaml } from '../yaml/strict-yaml.ts';
import { at, mistakesOf } from './reasons.ts';
import { TARGET_FIELDS, type TargetKind, withTargetIds } from './targets.ts';

export type { Mistake };

/** SPEC §13 "Everything is checked first": either the whole file or every mistake in it, in the order of the file. */
export type Checked =
  | {
      readonly ok: true;
      readonly fleet: FleetFile;
      readonly targets: readonly NamedTarget[];
      readonly templates: readonly NamedTemplates[];
    }
  | { readonly ok: false; readonly mistakes: readonly Mistake[] };

/** An organization or workspace in the scope of a config, and what to say when there is no such thing. */
export interface NamedTarget {
  readonly kind: TargetKind;
  readonly text: string;
  readonly mistake: Mistake;
}

/** The templates of a config, and what to say of one that cannot be rendered. */
export interface NamedTemplates {
  readonly templates: Templates;
  mistake(problem: TemplateProblem): Mistake;
}

/** Checks one entry of rollout_configs (the API's fields); answers the schema's issues, none when it is right. */
export type ConfigCheck = (config: Record<string, unknown>) => readonly z.core.$ZodIssue[];

/** Checks a label selector; answers what is wrong, or null. */
export type SelectorCheck = (selector: string) => string | null;

export interface Checks {
  readonly config: ConfigCheck;
  readonly selector: SelectorCheck;
}

const MAX_RECORD_BYTES = 300 * 1024;

export function checkFleet(text: string, checks: Checks): Checked {
  const yaml = readStrictYaml(text);
  if (!yaml.whole) return refused(yaml.mistakes);
  if (!isRecord(yaml.value)) {
    return refused([
      ...yaml.mistakes,
      at(yaml, [], 'value', 'is empty or not a map; a fleet file begins with "apiVersion: block-rollout/v1"'),
    ]);
  }
  const parsed = fleetFile.safeParse(yaml.value, { reportInput: true });
  const mistakes = [
    ...yaml.mistakes,
    ...mistakesOf(parsed.error?.issues ?? [], yaml),
    ...uniqueness(yaml),
    ...windows(yaml),
    ...settings(yaml),
    ...tooBig(yaml),
    ...tooDeep(yaml),
    ...rolloutConfigs(yaml, checks.config),
    ...simulationRules(yaml, checks.selector),
  ];
  return parsed.success && mistakes.length === 0
    ? { ok: true, fleet: parsed.data, targets: namedTargets(yaml), templates: namedTemplates(yaml) }
    : refused(mistakes);
}

function refused(mistakes: readonly Mistake[]): Checked {
  const inOrder = [...mistakes].sort((a, b) => a.line - b.line || a.column - b.column || a.path.localeCompare(b.path));
  const once = inOrder.filter((mistake, index) => {
    const before = inOrder[index - 1];
    return before === undefined || before.line !== mistake.line || before.column !== mistake.column || before.path !== mistake.path;
  });
  return { ok: false, mistakes: once };
}

type Loose = Record<string, unknown>;
const isRecord = (value: unknown): value is Loose => typeof value === 'object' && value !== null && !Array.isArray(value);

interface Entry {
  readonly path: Path;
  readonly value: Loose;
}

/** The entries of a list that may itself be wrong: the checks across entries say what they can even then. */
function entries(parent: Entry, key: string): Entry[] {
  const list = parent.value[key];
  if (!Array.isArray(list)) return [];
  return list.flatMap((value: unknown, index) => (isRecord(value) ? [{ path: [...parent.path, key, index], value }] : []));
}

const root = (yaml: StrictYaml): Entry => ({ path: [], value: isRecord(yaml.value) ? yaml.value : {} });
const organizations = (yaml: StrictYaml): Entry[] => entries(root(yaml), 'organizations');
const workspaces = (yaml: StrictYaml): Entry[] => organizations(yaml).flatMap((o) => entries(o, 'workspaces'));
const clusters = (yaml: StrictYaml): Entry[] => workspaces(yaml).flatMap((w) => entries(w, 'clusters'));

/** SPEC §1: a name is unique under its parent. */
function uniqueness(yaml: StrictYaml): Mistake[] {
  const lists: Entry[][] = [organizations(yaml), entries(root(yaml), 'rollout_configs')];
  for (const organization of organizations(yaml)) lists.push(entries(organization, 'workspaces'));
  for (const workspace of workspaces(yaml)) lists.push(entries(workspace, 'clusters'), entries(workspace, 'blocks'));
  for (const cluster of clusters(yaml)) lists.push(entries(cluster, 'apps'), entries(cluster, 'blocks'));
  return lists.flatMap((list) => doubled(yaml, list));
}

function doubled(yaml: StrictYaml, list: readonly Entry[]): Mistake[] {
  const first = new Map<unknown, Entry>();
  return list.flatMap((entry) => {
    const { name } = entry.value;
    if (typeof name !== 'string') return [];
    const before = first.get(name);
    if (before === undefined) {
      first.set(name, entry);
      return [];
    }
    const { line } = yaml.locate([...before.path, 'name']);
    return [at(yaml, [...entry.path, 'name'], 'value', `"${name}" is already the name of the entry in line ${line}`)];
  });
}

/** SPEC §4: a window is checked where it is given, and must open at some time. */
function windows(yaml: StrictYaml): Mistake[] {
  return [...organizations(yaml), ...workspaces(yaml)].flatMap(({ path, value }) => {
    const window = value['maintenance_window'];
    const parsed = isRecord(window) ? parseWindow(window) : null;
    if (parsed === null || parsed.ok) return [];
    return parsed.problems.map((problem) => at(yaml, [...path, 'maintenance_window', ...partsOf(problem.path)], 'value', problem.reason));
  });
}

/** `time_slots[0].start` */
const partsOf = (path: string): Path => (path.match(/[^.[\]]+/g) ?? []).map((part) => (/^\d+$/.test(part) ? Number(part) : part));

/** SPEC §1 "SystemConfig", §2.3: rules between and about the settings that the schema of one field cannot say. */
function settings(yaml: StrictYaml): Mistake[] {
  const config = root(yaml).value['system_config'];
  if (!isRecord(config)) return [];
  const mistakes = ['allow_downgrade', 'expected_targets']
    .filter((key) => Object.hasOwn(config, key))
    .map((key) => at(yaml, ['system_config', key], 'key', 'belongs to a change by hand (PATCH), not into a file'));
  const version = config['OPERATOR_BLOCK_VERSION'];
  if (typeof version === 'string' && version !== '' && valid(version.replace(/^v/, '')) === null) {
    mistakes.push(
      at(yaml, ['system_config', 'OPERATOR_BLOCK_VERSION'], 'value', `must be a semantic version such as 0.34.0, not "${version}"`),
    );
  }
  const [warning, critical] = [config['AGENT_WARNING_AFTER_SECONDS'], config['AGENT_CRITICAL_AFTER_SECONDS']].map(Number);
  if (warning !== undefined && critical !== undefined && warning > critical) {
    const text = `must not be greater than AGENT_CRITICAL_AFTER_SECONDS (${critical})`;
    mistakes.push(at(yaml, ['system_config', 'AGENT_WARNING_AFTER_SECONDS'], 'value', text));
  }
  return mistakes;
}

/** A record must fit into a row of the table with room to spare. */
function tooBig(yaml: StrictYaml): Mistake[] {
  const owners = [...organizations(yaml), ...workspaces(yaml), ...clusters(yaml)];
  const all = [...owners, ...owners.flatMap((owner) => entries(owner, 'blocks')), ...entries(root(yaml), 'rollout_configs')];
  return all.flatMap(({ path, value }) => {
    const { workspaces: _w, clusters: _c, blocks: _b, apps: _a, ...own } = value;
    if (Buffer.byteLength(JSON.stringify(own)) <= MAX_RECORD_BYTES) return [];
    return [at(yaml, path, 'value', `is larger than ${MAX_RECORD_BYTES / 1024} KiB`)];
  });
}

/** What is kept as it is written must fit into a row of the table (the reader itself refuses keys). */
function tooDeep(yaml: StrictYaml): Mistake[] {
  const owners = [...workspaces(yaml), ...clusters(yaml)];
  const blocks = owners
    .flatMap((owner) => entries(owner, 'blocks'))
    .map(({ path, value }) => ({ path: [...path, 'config'], value: value['config'] }));
  const kept = [...blocks, { path: ['system_config'], value: root(yaml).value['system_config'] }];
  return kept.flatMap(({ path, value }) => valueProblems(value, path)).map((problem) => at(yaml, problem.path, 'value', problem.reason));
}

/** Stands for an id that only follows from the names. */
const SOME_ID = '00000000-0000-7000-8000-000000000000';

function rolloutConfigs(yaml: StrictYaml, check: ConfigCheck): Mistake[] {
  return entries(root(yaml), 'rollout_configs').flatMap(({ path, value }) => [
    ...mistakesOf(check(withTargetIds(value, () => SOME_ID)), yaml, path),
    ...(['target_organizations', 'target_workspaces'] as const).flatMap((field) =>
      badNames(yaml, [...path, field], value[field], TARGET_FIELDS[field]),
    ),
  ]);
}

function badNames(yaml: StrictYaml, path: Path, list: unknown, kind: TargetKind): Mistake[] {
  if (!Array.isArray(list) || kind === 'organization') return [];
  return list.flatMap((text: unknown, index) =>
    typeof text !== 'string' || text.includes('/') || /^[0-9a-f-]{36}$/.test(text)
      ? []
      : [at(yaml, [...path, index], 'value', `write organization/workspace, or an id, instead of "${text}"`)],
  );
}

function namedTargets(yaml: StrictYaml): NamedTarget[] {
  return entries(root(yaml), 'rollout_configs').flatMap(({ path, value }) =>
    Object.entries(TARGET_FIELDS).flatMap(([field, kind]) => {
      const list: unknown = value[field];
      if (!Array.isArray(list)) return [];
      return list.map(String).map((text, index) => {
        const mistake = at(yaml, [...path, field, index], 'value', `there is no ${kind} "${text}", neither in this file nor in the fleet`);
        return { kind, text, mistake };
      });
    }),
  );
}

/** Each field was checked: it is a text or not there. */
function namedTemplates(yaml: StrictYaml): NamedTemplates[] {
  return entries(root(yaml), 'rollout_configs').map(({ path, value }) => {
    const text = (field: string): string | null => (typeof value[field] === 'string' ? value[field] : null);
    return {
      templates: {
        target_kind: value['target_kind'] === 'workspace' ? 'workspace' : 'k8s_cluster',
        target_version: text('target_version'),
        block_config_template: text('block_config_template'),
        template_block: text('template_block'),
      },
      mistake: ({ field, reason }) => at(yaml, [...path, field], 'value', `the template cannot be rendered: ${reason}`),
    };
  });
}

function simulationRules(yaml: StrictYaml, check: SelectorCheck): Mistake[] {
  const simulation = root(yaml).value['simulation'];
  if (!isRecord(simulation)) return [];
  const known = new Set(clusterNames(yaml));
  return entries({ path: ['simulation'], value: simulation }, 'rules').flatMap(({ path, value }) => {
    const { match, cluster } = value;
    const wrong = typeof match === 'string' ? check(match) : null;
    if (wrong !== null) return [at(yaml, [...path, 'match'], 'value', wrong)];
    if (typeof cluster !== 'string' || known.has(cluster)) return [];
    return [
      at(yaml, [...path, 'cluster'], 'value', `there is no cluster "${cluster}" in this file (write organization/workspace/cluster)`),
    ];
  });
}

function clusterNames(yaml: StrictYaml): string[] {
  const names = (parent: Entry, key: string) => entries(parent, key).map((entry) => ({ entry, name: String(entry.value['name']) }));
  return names(root(yaml), 'organizations').flatMap((o) =>
    names(o.entry, 'workspaces').flatMap((w) => names(w.entry, 'clusters').map((c) => `${o.name}/${w.name}/${c.name}`)),
  );
}

/** One line per mistake, as compilers write them: `file:line:column path: reason`. */
export function mistakeLine(file: string, mistake: Mistake): string {
  const path = mistake.path === '' ? '' : `${mistake.path}: `;
  return `${file}:${mistake.line}:${mistake.column} ${path}${mistake.reason}`;
}
