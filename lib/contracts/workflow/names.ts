/**
 * Names of executions. Step Functions keeps a name for 90 days and gives it to one execution only, so the name is what makes a doubled start harmless:
 * while it runs, the same start is the same execution; once closed, "exists" is the answer and the caller takes the next generation.
 * Builder and parser stand side by side; a name has at most 80 characters.
 */
export const MAX_EXECUTION_NAME = 80;

const WAVE_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** A UUID or a hash in hex: 64 characters at most, so that `enqueue-` and a generation of six digits still fit. */
const ENQUEUE_RUN = /^[0-9a-f][0-9a-f-]{0,63}$/;
const MAX_GENERATION = 999_999;

export type ExecutionName =
  | { readonly machine: 'wave'; readonly block_rollout: string; readonly generation: number }
  | { readonly machine: 'enqueue'; readonly enqueue_run: string; readonly generation: number };

export const isWaveId = (id: string): boolean => WAVE_ID.test(id);
export const isEnqueueRunId = (id: string): boolean => ENQUEUE_RUN.test(id);

export function waveExecutionName(block_rollout: string, generation: number): string {
  if (!WAVE_ID.test(block_rollout)) throw new Error(`"${block_rollout}" is not a wave's id; a UUID in lower case is expected.`);
  return `wave-${block_rollout}-g${checkedGeneration(generation)}`;
}

export function enqueueExecutionName(enqueue_run: string, generation = 1): string {
  if (!isEnqueueRunId(enqueue_run)) throw new Error(`"${enqueue_run}" is not an enqueue run's id; a UUID or a hash in hex is expected.`);
  return `enqueue-${enqueue_run}-g${checkedGeneration(generation)}`;
}

/** null for names that this product did not make, e.g. the UUID that the console gives. */
export function parseExecutionName(name: string): ExecutionName | null {
  const parts = /^(wave|enqueue)-(.+)-g([1-9][0-9]{0,5})$/.exec(name);
  const [, machine, id, digits] = parts ?? [];
  if (machine === undefined || id === undefined || digits === undefined) return null;
  const generation = Number(digits);
  if (machine === 'wave') return WAVE_ID.test(id) ? { machine, block_rollout: id, generation } : null;
  return isEnqueueRunId(id) ? { machine: 'enqueue', enqueue_run: id, generation } : null;
}

function checkedGeneration(generation: number): number {
  if (Number.isInteger(generation) && generation >= 1 && generation <= MAX_GENERATION) return generation;
  throw new Error(`generation ${generation} is not a whole number from 1 to ${MAX_GENERATION}.`);
}
