import type * as z from 'zod';
import type { ObjectStore } from '../../app/ports.ts';
import { type Addressed, urlOf } from '../../app/urls.ts';
import type { blocker as blockerSchema } from '../../contracts/api/common.ts';
import type { reference } from '../../contracts/api/managed.ts';
import type { Managed } from '../../domain/shared/fleet.ts';
import type { Blocker } from '../../domain/shared/rollout.ts';
import { FIRST_INSTANT, type Instant, LAST_INSTANT } from '../../domain/shared/time.ts';

/** From the program's objects to the wire: times become ISO 8601 UTC, parents become small objects. */

/** Requests cannot name times beyond the wire's years; a row that has one all the same is shown at their edge, since else nobody could read it. */
export const iso = (at: Instant): string => new Date(Math.min(LAST_INSTANT, Math.max(FIRST_INSTANT, at))).toISOString();
export const isoOrNull = (at: Instant | null): string | null => (at === null ? null : iso(at));

export const managed = (value: Managed, what: Addressed) => ({
  id: value.id,
  name: value.name,
  display_name: value.display_name,
  labels: { ...value.labels },
  annotations: { ...value.annotations },
  created_at: iso(value.created_at),
  updated_at: iso(value.updated_at),
  archived: value.archived,
  archived_at: isoOrNull(value.archived_at),
  archived_reason: value.archived_reason,
  url: urlOf(what, value.id),
});

export const blocker = ({ code, detail, until }: Blocker): z.input<typeof blockerSchema> => ({ code, detail, until: isoOrNull(until) });

export type Reference = z.input<typeof reference>;
export interface Parents {
  organization(id: string | null): Reference | null;
  workspace(id: string | null): Reference | null;
}

type Owned = { readonly organization?: string | null; readonly workspace?: string | null };

/** The organizations and workspaces of a page of rows, each read once. */
export async function parentsOf(objects: ObjectStore, rows: readonly Owned[]): Promise<Parents> {
  const wanted = (ids: readonly (string | null | undefined)[]): string[] => [...new Set(ids.filter((id) => typeof id === 'string'))];
  const [organizations, workspaces] = await Promise.all([
    objects.getMany('organization', wanted(rows.map((row) => row.organization))),
    objects.getMany('workspace', wanted(rows.map((row) => row.workspace))),
  ]);
  return {
    organization: (id) => (id === null ? null : referenceTo('organization', organizations.get(id))),
    workspace: (id) => (id === null ? null : referenceTo('workspace', workspaces.get(id))),
  };
}

const referenceTo = (what: Addressed, value: Managed | undefined): Reference | null =>
  value === undefined ? null : { id: value.id, name: value.name, display_name: value.display_name, url: urlOf(what, value.id) };
