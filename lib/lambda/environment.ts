import * as z from 'zod';

const environment = z.object({
  TABLE_NAME: z.string().min(1),
  WAVE_MACHINE_ARN: z.string().default(''),
  ENQUEUE_MACHINE_ARN: z.string().default(''),
  /** Hash of the deployed wave definition. */
  WAVE_DEFINITION: z.string().min(1).optional(),
});
export type Environment = z.infer<typeof environment>;

/** What a function is configured with; a missing or broken value is named at cold start, not at the first use. */
export function readEnvironment(values: Readonly<Record<string, string | undefined>>): Environment {
  const read = environment.safeParse(values);
  if (read.success) return read.data;
  const names = read.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw new Error(`The environment of this function is not complete: ${names.join('; ')}. Deploy it anew.`);
}
