import * as z from 'zod';
import { id, instantOut } from './common.ts';

/** SPEC §13: a fleet file on its way in. */

const counts = z.object({ created: z.number().int(), updated: z.number().int(), unchanged: z.number().int(), archived: z.number().int() });

export const importState = z
  .object({
    id,
    status: z.enum(['running', 'completed']),
    total: z.number().int(),
    done: z.number().int(),
    /** Per kind of object. */
    counts: z.record(z.string(), counts),
    created_at: instantOut,
    finished_at: instantOut.nullable(),
    url: z.string(),
  })
  .meta({ id: 'Import' });
