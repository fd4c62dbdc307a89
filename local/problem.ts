/** Why the runtime cannot start, in words for the person who started it; no stack trace helps them. */
export class StartProblem extends Error {
  override readonly name = 'StartProblem';
}
