/** npm passes a Ctrl-C on that the terminal has already delivered: both together are one. */
const ONE_PRESS = 500;

/** Aborts at the first Ctrl-C (or SIGTERM), or when whoever read our words has gone (`| head`); the second ends the process at once. */
export function stopSignal(say: (line: string) => void): AbortSignal {
  const controller = new AbortController();
  let firstAt: number | null = null;
  const stop = (): void => {
    if (firstAt === null) {
      firstAt = performance.now();
      say('Stopping; press Ctrl-C again to end at once.');
      controller.abort();
    } else if (performance.now() - firstAt > ONE_PRESS) process.exit(130);
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  process.on('SIGHUP', stop);
  process.stdout.on('error', () => {
    if (firstAt === null) stop();
  });
  return controller.signal;
}
