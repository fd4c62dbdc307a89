import * as z from 'zod';

/** Every error of the API, and nothing else, has this body. */
export const problem = z
  .object({
    code: z.string(),
    detail: z.string(),
    /** The field, dotted for nested ones; null when it is not about a field. */
    attr: z.string().nullable(),
  })
  .meta({ id: 'Problem' });

export const errorBody = z
  .object({
    type: z.enum(['validation_error', 'client_error', 'server_error']),
    errors: z.array(problem).min(1),
    /** With 409: the object that stands in the way. */
    conflict: z.object({ id: z.string(), url: z.string() }).optional(),
    request_id: z.string().optional(),
  })
  .meta({ id: 'Error' });
export type ErrorBody = z.infer<typeof errorBody>;
