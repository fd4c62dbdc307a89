import { Authenticator } from '../../lib/app/keys/authenticate.ts';
import type { Services } from '../../lib/app/services.ts';
import { type AuthorizerEvent, makeAuthorizer } from '../../lib/http/authorizer.ts';
import { coldStart } from '../../lib/lambda/cold-start.ts';

/** Says who calls; what the caller may do is the API's business. */
export const makeHandler = (services: Services) => {
  const authorize = makeAuthorizer(new Authenticator(services.resources));
  return (event: unknown, context: never) => services.units.within('authorizer', async () => authorize(event as AuthorizerEvent, context));
};

export const handler = coldStart('authorizer', makeHandler);
