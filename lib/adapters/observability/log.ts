import type { Clock, Logger } from '../../app/ports.ts';

type Level = 'info' | 'warn' | 'error';
type Fields = Record<string, unknown>;

/** One JSON object per line: time, level, event and the fields of whoever logs. */
export function jsonLog(clock: Pick<Clock, 'now'>, write: (line: string) => void): Logger {
  const at =
    (level: Level) =>
    (event: string, fields: Fields = {}): void =>
      write(JSON.stringify({ time: new Date(clock.now()).toISOString(), level, event, ...fields }));
  return { info: at('info'), warn: at('warn'), error: at('error') };
}
