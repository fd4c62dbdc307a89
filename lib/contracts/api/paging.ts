import * as z from 'zod';
import { componentName, idIn } from './common.ts';

/** Comma-separated, repeated, or both. */
const several = z.union([z.string(), z.array(z.string())]).transform((v) => [v].flat().flatMap((text) => text.split(',')));

/** Query parameters are texts; these read them. A parameter given twice is refused unless it is a list. */
export const filter = {
  text: z.string().min(1).max(253),
  id: idIn,
  flag: z
    .enum(['true', 'false', 'True', 'False', '1', '0'], { error: 'must be true or false' })
    .transform((v) => v === 'true' || v === 'True' || v === '1')
    .meta({ type: 'boolean' }),
  number: (min: number, max: number) =>
    z
      .string()
      .regex(/^\d{1,9}$/, 'must be a whole number')
      .transform(Number)
      .pipe(z.number().min(min).max(max))
      .meta({ type: 'integer', minimum: min, maximum: max }),
  ids: several.pipe(z.array(idIn).min(1).max(100)).meta({ type: 'array', items: { type: 'string', format: 'uuid' } }),
  choices: <C extends z.ZodType<unknown, string>>(choice: C) =>
    several.pipe(z.array(choice).min(1).max(20)).meta({ type: 'array', items: { type: 'string' } }),
} as const;

export const MAX_PAGE_SIZE = 200;
export const DEFAULT_PAGE_SIZE = 50;
/** Numbered pages reach this many rows deep; beyond that `next` leads on. */
export const MAX_DEPTH = 10_000;

export const pagingQuery = {
  page: filter.number(1, MAX_DEPTH).exactOptional(),
  page_size: filter.number(1, MAX_PAGE_SIZE).exactOptional(),
  cursor: z.string().min(1).max(2048).exactOptional(),
  ordering: z.enum(['-created_at']).exactOptional(),
} as const;

/** Filters of every list of managed objects. */
const managedFilters = {
  archived: filter.flag.exactOptional(),
  name: filter.text.exactOptional(),
  name_exact: filter.text.exactOptional(),
  search: filter.text.exactOptional(),
  created_by_component: componentName.exactOptional(),
} as const;

const ownedFilters = { ...managedFilters, organizations: filter.ids.exactOptional(), workspaces: filter.ids.exactOptional() } as const;

/** Query of a list: unknown parameters are refused by name. */
export const listQuery = <S extends z.ZodRawShape>(shape: S) => z.strictObject({ ...pagingQuery, ...managedFilters, ...shape });
export const ownedListQuery = <S extends z.ZodRawShape>(shape: S) => z.strictObject({ ...pagingQuery, ...ownedFilters, ...shape });

/** Waves, items and runs: no person makes them, so they have no name of their own and no maker to filter by. */
export const historyQuery = <S extends z.ZodRawShape>(shape: S) => {
  const { archived, name_exact, search } = managedFilters;
  return z.strictObject({ ...pagingQuery, archived, name_exact, search, ...shape });
};
export const ownedHistoryQuery = <S extends z.ZodRawShape>(shape: S) => {
  const { organizations, workspaces } = ownedFilters;
  return historyQuery({ organizations, workspaces, ...shape });
};

export const page = <T extends z.ZodType>(row: T) =>
  z.object({ count: z.number().int(), next: z.string().nullable(), previous: z.string().nullable(), results: z.array(row) });
