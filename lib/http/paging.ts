import { invalid } from '../app/errors.ts';
import type { Page, PageRequest } from '../app/paging.ts';
import { DEFAULT_PAGE_SIZE, MAX_DEPTH } from '../contracts/api/paging.ts';

interface PagingQuery {
  readonly page?: number;
  readonly page_size?: number;
  readonly cursor?: string;
}

/** SPEC §9: numbered pages reach 10,000 rows deep, then the cursor goes on. */
export function pageRequest(query: PagingQuery): PageRequest {
  const request = { page_size: query.page_size ?? DEFAULT_PAGE_SIZE, page: query.page ?? 1, cursor: query.cursor ?? null };
  if (query.cursor !== undefined && query.page !== undefined) throw invalid('page', 'Give either page or cursor, not both.');
  if (request.page * request.page_size > MAX_DEPTH && request.page > 1)
    throw invalid('page', `Pages reach ${MAX_DEPTH} rows deep; follow "next" beyond that.`);
  return request;
}

export interface Envelope<T> {
  readonly count: number;
  readonly next: string | null;
  readonly previous: string | null;
  readonly results: readonly T[];
}

/** `next` carries the cursor, `previous` the number of the page before; all other parameters stay as they are. */
export function envelope<T>(page: Page<unknown>, results: readonly T[], request: PageRequest, address: URL): Envelope<T> {
  return {
    count: page.count,
    next: page.cursor === null ? null : withParameters(address, { cursor: page.cursor, page: null }),
    previous:
      request.cursor === null && request.page > 1 ? withParameters(address, { page: String(request.page - 1), cursor: null }) : null,
    results,
  };
}

/** The same for all pages of one list. */
export const listKey = (address: URL): string => withParameters(address, { cursor: null, page: null });

function withParameters(address: URL, parameters: Readonly<Record<string, string | null>>): string {
  const url = new URL(address);
  for (const [name, value] of Object.entries(parameters)) {
    if (value === null) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  return url.href;
}
