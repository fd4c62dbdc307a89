import { pageRequest } from '../paging.ts';

interface ListQuery {
  readonly page?: number;
  readonly page_size?: number;
  readonly cursor?: string;
  readonly archived?: boolean;
}

/** The page and the filters of a list's query. Archived ones are shown on demand only. */
export function split<Q extends ListQuery & { ordering?: string }>(query: Q) {
  const { page: _page, page_size: _size, cursor: _cursor, ordering: _ordering, archived = false, ...rest } = query;
  return { page: pageRequest(query), filters: { ...rest, archived } };
}
