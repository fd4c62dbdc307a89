import { coloured, frame, plain, plainLine, type View } from './frame.ts';

/** Where the progress goes: a terminal that is drawn over, or a stream of lines. */
export interface Screen {
  show(view: View): void;
  /** A line that stays, above the picture. */
  say(line: string): void;
  /** Leaves the last picture standing. */
  end(): void;
}

type Out = Pick<NodeJS.WriteStream, 'write' | 'isTTY' | 'columns' | 'rows'>;

export function screenFor(out: Out, environment: Readonly<Record<string, string | undefined>>): Screen {
  if (out.isTTY !== true || environment['TERM'] === 'dumb') return new LineScreen(out);
  const noColour = (environment['NO_COLOR'] ?? '') !== '';
  return new TerminalScreen(out, noColour);
}

const UP_AND_CLEAR = (lines: number): string => (lines === 0 ? '' : `\u001b[${lines}A\r\u001b[J`);
const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';

class TerminalScreen implements Screen {
  readonly #out: Out;
  readonly #noColour: boolean;
  #drawn = 0;
  #last: View | null = null;

  constructor(out: Out, noColour: boolean) {
    this.#out = out;
    this.#noColour = noColour;
  }

  show(view: View): void {
    this.#last = view;
    this.#draw('');
  }

  say(line: string): void {
    this.#draw(`${line}\n`);
  }

  end(): void {
    this.#out.write(SHOW_CURSOR);
  }

  /** One write, so that nothing flickers. */
  #draw(above: string): void {
    const width = Math.max(20, (this.#out.columns ?? 80) - 1);
    const room = Math.max(3, (this.#out.rows ?? 24) - 1);
    const lines = this.#last === null ? [] : frame(this.#last, width, this.#noColour ? plain : coloured).slice(0, room);
    const body = lines.map((line) => `${line}\n`).join('');
    this.#out.write(`${HIDE_CURSOR}${UP_AND_CLEAR(this.#drawn)}${above}${body}`);
    this.#drawn = lines.length;
  }
}

/** Only what has changed, so that a log of it can be read. */
class LineScreen implements Screen {
  readonly #out: Out;
  readonly #shown = new Map<string, string>();

  constructor(out: Out) {
    this.#out = out;
  }

  show(view: View): void {
    for (const wave of view.waves) {
      // Times that merely run down are no change.
      const key = JSON.stringify([wave.status, wave.counters, wave.held.map(({ code, count }) => [code, count])]);
      if (this.#shown.get(wave.id) === key) continue;
      this.#shown.set(wave.id, key);
      this.say(plainLine(wave, view.now));
    }
  }

  say(line: string): void {
    this.#out.write(`${line}\n`);
  }

  end(): void {
    // Nothing to leave behind.
  }
}
