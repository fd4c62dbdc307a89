import fc from 'fast-check';

/** A failing property prints its seed and path; FC_SEED repeats a run and FC_RUNS makes it longer. */
const seed = process.env['FC_SEED'];
const runs = process.env['FC_RUNS'];

fc.configureGlobal({
  ...(seed === undefined ? {} : { seed: Number(seed) }),
  ...(runs === undefined ? {} : { numRuns: Number(runs) }),
});
