import middy from '@middy/core';
import { AppError } from '../app/errors.ts';
import type { Authenticator } from '../app/keys/authenticate.ts';
import { callerContext, refusalContext } from './caller.ts';

export interface AuthorizerEvent {
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

interface AuthorizerAnswer {
  readonly isAuthorized: true;
  readonly context: Readonly<Record<string, string>>;
}

/** DESIGN §6: decides only who it is. A bad key is let through with the reason, so that the API can say it in its own words. */
export function makeAuthorizer(authenticator: Pick<Authenticator, 'authenticate'>) {
  return middy<AuthorizerEvent, AuthorizerAnswer>().handler(async (event) => {
    try {
      return { isAuthorized: true, context: callerContext(await authenticator.authenticate(event.headers?.['authorization'])) };
    } catch (error) {
      if (error instanceof AppError && error.kind === 'unauthenticated') return { isAuthorized: true, context: refusalContext(error) };
      throw error;
    }
  });
}
