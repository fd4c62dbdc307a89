import type { EngineServices } from '../../app/engine/services.ts';
import { operatorRollout } from '../../app/operator/operator-rollout.ts';
import type { HandlersOf } from '../api-types.ts';
import { reply } from '../event.ts';
import { envelope, pageRequest } from '../paging.ts';
import { operatorRow } from '../present/rollout.ts';
import { clusterVerbs } from './rollouts.ts';

export const operatorHandlers = (engine: EngineServices): HandlersOf<'operator'> => ({
  ...clusterVerbs(engine),
  list: async ({ query, address }) => {
    const { page: _page, page_size: _size, cursor: _cursor, ordering: _ordering, ...filters } = query;
    const request = pageRequest(query);
    const found = await operatorRollout(engine, filters, request);
    const { summary, histogram } = found;
    return reply(200, { summary, histogram, ...envelope(found, found.rows.map(operatorRow), request, address) });
  },
});
