import { derivedId } from '../derived-ids.ts';
import type { Ids } from '../ports.ts';

/** The scope of a config in a fleet file: ids as in the API, or names as in the file: `acme`, `acme/acme-prod`. */

export const TARGET_FIELDS = { target_organizations: 'organization', target_workspaces: 'workspace' } as const;
export type TargetKind = (typeof TARGET_FIELDS)[keyof typeof TARGET_FIELDS];

const isId = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);

export function targetId(ids: Ids, kind: TargetKind, text: string): string {
  if (isId(text)) return text;
  if (kind === 'organization') return derivedId.organization(ids, text);
  const slash = text.indexOf('/');
  return derivedId.workspace(ids, derivedId.organization(ids, text.slice(0, slash)), text.slice(slash + 1));
}

/** The config's fields with every name in its scope replaced. */
export function withTargetIds(
  fields: Readonly<Record<string, unknown>>,
  id: (kind: TargetKind, text: string) => string,
): Record<string, unknown> {
  const replaced = Object.entries(TARGET_FIELDS).flatMap(([field, kind]) => {
    const list = fields[field];
    if (!Array.isArray(list)) return [];
    return [[field, list.map((entry: unknown) => (typeof entry === 'string' ? id(kind, entry) : entry))] as const];
  });
  return { ...fields, ...Object.fromEntries(replaced) };
}
