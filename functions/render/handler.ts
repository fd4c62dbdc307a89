import middy from '@middy/core';
import { RenderHost } from '../../lib/adapters/templates/render-host.ts';
import { renderRequest } from '../../lib/contracts/render.ts';

/** Renders one page of targets. It has neither table nor keys, and reads nothing of its environment. */
export const makeHandler = () => {
  const host = new RenderHost();
  return middy((event: unknown) => host.render(renderRequest.parse(event)));
};

export const handler = makeHandler();
