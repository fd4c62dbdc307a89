import middy from '@middy/core';
import * as z from 'zod';
import type { CoreServices } from '../app/services.ts';
import type { Handler } from './once.ts';

/** One state of a workflow: what comes in, what goes out, who decides. */
export interface Step {
  readonly input: z.ZodType;
  readonly output: z.ZodType;
  run(services: CoreServices, input: never): Promise<unknown>;
}

export function step<I extends z.ZodType, O extends z.ZodType>(
  input: I,
  output: O,
  run: (services: CoreServices, input: z.output<I>) => Promise<z.input<O>>,
): Step {
  return { input, output, run };
}

const named = z.object({ state: z.string().optional() });

/** A function that stands behind one or several states: the payload's `state` says which. Both payloads are parsed, so a wrong one fails loudly. */
export function workflowHandler(services: CoreServices, operation: string, steps: Readonly<Record<string, Step>>): Handler {
  const [only] = Object.values(steps);
  return middy(async (event: unknown) => {
    const { state } = named.parse(event);
    const chosen = state === undefined ? only : steps[state];
    if (chosen === undefined) throw new Error(`This function does not know the state "${state}".`);
    const input = chosen.input.parse(event) as never;
    const answer = await services.units.within(operation, () => chosen.run(services, input));
    return chosen.output.parse(answer);
  });
}
