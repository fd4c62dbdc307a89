import { Command, CommanderError, InvalidArgumentError } from 'commander';

/** What `npm start -- …` understands. */
export interface Options {
  readonly fleet: string | null;
  readonly fresh: boolean;
  readonly memory: boolean;
  readonly data: string;
  readonly port: number;
  readonly agents: boolean;
  readonly speed: number;
  readonly exitWhenDone: boolean;
  readonly adminKeyFile: string | null;
  readonly report: string | null;
  /** Epoch milliseconds at which a clock begins that only moves by hand; null = the real one. */
  readonly virtualClock: number | null;
}

/** What to do instead of starting: the text is for stdout (help) or stderr (a wrong flag). */
export interface Stop {
  readonly text: string;
  readonly exitCode: 0 | 2;
}

export const DEFAULT_PORT = 8787;

export function readOptions(args: readonly string[]): Options | Stop {
  let text = '';
  const program = command((piece) => {
    text += piece;
  });
  try {
    program.parse([...args], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { text: text || `${error.message}\n`, exitCode: error.exitCode === 0 ? 0 : 2 };
  }
  const given = program.opts<Record<string, unknown>>();
  if (given['memory'] === true && given['fresh'] === true) {
    return { text: 'error: --memory keeps nothing, so there is nothing for --fresh to forget; leave one of them out.\n', exitCode: 2 };
  }
  return optionsOf(given);
}

function optionsOf(given: Readonly<Record<string, unknown>>): Options {
  const text = (name: string): string | null => (typeof given[name] === 'string' ? given[name] : null);
  return {
    fleet: text('fleet'),
    fresh: given['fresh'] === true,
    memory: given['memory'] === true,
    data: text('data') ?? '.data',
    port: Number(given['port']),
    agents: given['agents'] !== false,
    speed: Number(given['speed']),
    exitWhenDone: given['exitWhenDone'] === true,
    adminKeyFile: text('adminKeyFile'),
    report: text('report'),
    virtualClock: typeof given['virtualClock'] === 'number' ? given['virtualClock'] : null,
  };
}

function command(write: (piece: string) => void): Command {
  return new Command('npm start --')
    .description('Runs Block Rollout on this machine: the service, its table and a fleet of virtual agents.')
    .option('--fleet <file>', 'import this fleet file (otherwise examples/fleet.yaml, into an empty data folder only)')
    .option('--fresh', 'forget the data of earlier runs first')
    .option('--memory', 'keep nothing on disk')
    .option('--data <dir>', 'where the data is kept', '.data')
    .option('--port <n>', 'port on 127.0.0.1; 0 = any free one', whole(0, 65_535), DEFAULT_PORT)
    .option('--no-agents', 'start no virtual agents; real ones may come')
    .option('--speed <n>', 'virtual agents work so many times faster; the rules keep their times', positive, 1)
    .option('--exit-when-done', 'end when nothing moves any more: 0, or 1 when a wave is blocked')
    .option('--admin-key-file <file>', 'write the administrator key there too')
    .option('--report <file>', 'write the numbers of the rollout there as JSON at the end')
    .option('--virtual-clock <time>', 'begin at this time and move only through POST /local/clock', instant)
    .helpOption('--help', 'show this')
    .allowExcessArguments(false)
    .configureOutput({ writeOut: write, writeErr: write })
    .showHelpAfterError('(npm start -- --help shows all flags)')
    .exitOverride();
}

function whole(min: number, max: number): (text: string) => number {
  return (text) => {
    if (!/^\d{1,9}$/.test(text) || Number(text) < min || Number(text) > max) {
      throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
    }
    return Number(text);
  };
}

function positive(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value > 0) || value > 1_000_000) throw new InvalidArgumentError('It must be a number above 0, e.g. 10.');
  return value;
}

function instant(text: string): number {
  const value = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(value) || value < 0) throw new InvalidArgumentError('It must be a time with an offset, e.g. 2026-03-01T00:00:00Z.');
  return value;
}
