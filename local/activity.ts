import { setImmediate as turn } from 'node:timers/promises';

/**
 * Counts what is being done right now: requests, workflow steps, ticks, an agent's turn. A clock that is moved by hand waits until nothing is.
 * Whoever waits for the clock must not be counted meanwhile, or both would wait for each other.
 */
export class Activity {
  #open = 0;
  #begun = 0;
  #whenZero: (() => void)[] = [];

  /** Returns what ends it; calling that twice is the same as once. */
  begin(): () => void {
    this.#open += 1;
    this.#begun += 1;
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      this.#open -= 1;
      if (this.#open > 0) return;
      for (const resolve of this.#whenZero.splice(0)) resolve();
    };
  }

  async run<T>(work: () => Promise<T> | T): Promise<T> {
    const end = this.begin();
    try {
      return await work();
    } finally {
      end();
    }
  }

  /** Resolves when nothing is being done, and nothing began in two further turns of the event loop. */
  async idle(): Promise<void> {
    for (;;) {
      if (this.#open > 0) await new Promise<void>((resolve) => this.#whenZero.push(resolve));
      const before = this.#begun;
      await turn();
      await turn();
      if (this.#open === 0 && this.#begun === before) return;
    }
  }
}
