import type { ObjectTypes } from '../../app/ports.ts';
import { type Archivable, archive, unarchive } from '../../app/resources/archive.ts';
import { type ListFilters, ListMemory, type ListRequest, listObjects } from '../../app/resources/list.ts';
import type { ResourceServices } from '../../app/resources/services.ts';
import { find } from '../../app/resources/write.ts';
import type { Call } from '../api-types.ts';
import { type Reply, reply } from '../event.ts';
import { envelope, listKey } from '../paging.ts';
import { split } from './filters.ts';

type PagingQuery = { page?: number; page_size?: number; cursor?: string; ordering?: '-created_at' };
type BaseQuery = PagingQuery & { [K in keyof ListFilters]?: Exclude<ListFilters[K], null> };

export interface ResourceHandling<T extends Archivable, Q extends BaseQuery, C, U> {
  readonly type: T;
  readonly present: (rows: readonly ObjectTypes[T][]) => Promise<readonly object[]>;
  /** Filters of this type alone, and places that cut the list before it is read. */
  readonly narrow?: (query: Q) => Promise<Pick<ListRequest<T>, 'also' | 'within'>>;
  readonly create: (body: C, call: Call) => Promise<ObjectTypes[T]>;
  readonly update: (id: string, body: U, call: Call) => Promise<ObjectTypes[T]>;
}

/** The operations that every object has, made of what is particular to one. */
export function resourceHandlers<T extends Archivable, Q extends BaseQuery, C, U>(
  services: ResourceServices,
  own: ResourceHandling<T, Q, C, U>,
) {
  const { type, present } = own;
  const one = async (status: number, value: ObjectTypes[T]): Promise<Reply> => reply(status, (await present([value]))[0]);
  const change = async (call: Call<unknown, U>): Promise<Reply> => one(200, await own.update(call.id, call.body, call));
  const memory = new ListMemory(services.clock);
  return {
    list: async (call: Call<Q, undefined>): Promise<Reply> => {
      const { page, filters: picked } = split<BaseQuery>(call.query);
      const filters: ListFilters = picked;
      const narrowed = (await own.narrow?.(call.query)) ?? {};
      const kept = { memory, key: listKey(call.address) };
      const found = await listObjects(services, type, { filters, kept, ...narrowed }, page);
      return reply(200, envelope(found, await present(found.rows), page, call.address));
    },
    create: async (call: Call<unknown, C>): Promise<Reply> => one(201, await own.create(call.body, call)),
    get: async ({ id }: Call): Promise<Reply> => one(200, await find(services, type, id)),
    replace: change,
    update: change,
    archive: async ({ id, body, query, actor }: Call<{ force?: boolean }, { archive_reason?: string | null }>): Promise<Reply> => {
      if (body.archive_reason === undefined) await unarchive(services, type, id, actor);
      else await archive(services, type, id, { actor, reason: body.archive_reason, force: query.force ?? false });
      return reply(200, { archived: body.archive_reason !== undefined });
    },
    remove: async ({ id, query, actor }: Call<{ force?: boolean }, undefined>): Promise<Reply> => {
      await archive(services, type, id, { actor, reason: 'deleted', force: query.force ?? false });
      return reply(204, null);
    },
  };
}
