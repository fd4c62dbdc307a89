import * as z from 'zod';
import { id, idIn, instantOut, name } from './common.ts';
import { managedIn, managedOut, reference, requestObject } from './managed.ts';

/** SPEC §1, §4: recurring maintenance windows. */

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

const slot = z.object({
  /** Left out = every day; the night belongs to the day it starts on. */
  days: z.array(z.enum(DAYS)).exactOptional(),
  start: z.string(),
  /** Excluded; before `start` = on the next day; `24:00` is allowed. */
  end: z.string(),
});
const freeze = z.object({ from: z.string(), to: z.string(), reason: z.string().nullable() });

export const window = z
  .object({
    ...managedOut,
    organization: reference.nullable(),
    workspace: reference.nullable(),
    time_zone: z.string(),
    time_slots: z.array(slot),
    freezes: z.array(freeze),
    is_system_default: z.boolean(),
    description: z.string().nullable(),
    note: z.string().nullable(),
    lead_time_days: z.number().int().nullable(),
    notice_required: z.boolean(),
  })
  .meta({ id: 'MaintenanceWindow' });

/** Checked by the rules of windows, which say more than a schema can; this is what a document says of them. */
const checkedLater = (type: 'string' | 'array', description: string, items?: object) =>
  z.unknown().meta({ type, description, ...(items === undefined ? {} : { items }) });
const text = { type: 'string' };
const fields = {
  ...managedIn,
  time_zone: checkedLater('string', 'A name of the time zone database, e.g. Europe/Berlin.').exactOptional(),
  time_slots: checkedLater('array', 'Wall-clock slots; at least one.', {
    type: 'object',
    properties: { days: { type: 'array', items: { type: 'string', enum: DAYS } }, start: text, end: text },
    required: ['start', 'end'],
  }).exactOptional(),
  freezes: checkedLater('array', 'Dates (whole days, to included) or instants (to excluded) in which nothing starts.', {
    type: 'object',
    properties: { from: text, to: text, reason: text },
    required: ['from', 'to'],
  }).exactOptional(),
  /** At most one window is; making another one takes it from the first. */
  is_system_default: z.boolean().exactOptional(),
  description: z.string().max(4096).nullable().exactOptional(),
  note: z.string().max(4096).nullable().exactOptional(),
  lead_time_days: z.number().int().min(0).max(3650).nullable().exactOptional(),
  notice_required: z.boolean().exactOptional(),
};
const OWNED = ['workspace', 'criticality', 'kind', 'created_by_component'];
export const createWindow = requestObject({ ...fields, name, organization: idIn.nullable().exactOptional() }, OWNED).meta({
  id: 'CreateMaintenanceWindow',
});
export const updateWindow = requestObject(fields, [...OWNED, 'organization', 'organization_id']).meta({ id: 'UpdateMaintenanceWindow' });

/** An instant as programs and as people of the window's zone read it. */
const moment = z.object({ at: instantOut, local: z.string() });
export const windowPreview = z
  .object({
    id,
    time_zone: z.string(),
    open_now: z.boolean(),
    /** In words: `opens in 3 h 12 min (22:00 Europe/Berlin)`. */
    summary: z.string(),
    /** The end of the freeze that holds now. */
    frozen_until: moment.nullable(),
    next_opening: moment.nullable(),
    next_closing: moment.nullable(),
    /** The next ten, with freezes taken out; one that is open already begins now. */
    openings: z.array(
      z.object({
        opens_at: instantOut,
        opens_at_local: z.string(),
        /** null = it does not close by itself. */
        closes_at: instantOut.nullable(),
        closes_at_local: z.string().nullable(),
        duration: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'MaintenanceWindowPreview' });

/** reference §1.10: the window that counts for a workspace, and whether it is open. */
export const windowStatus = z
  .object({
    in_maintenance_window: z.boolean(),
    window_id: id.nullable(),
    window_name: z.string().nullable(),
    window_display_name: z.string().nullable(),
  })
  .meta({ id: 'MaintenanceWindowStatus' });
