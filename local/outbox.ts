import type { Logger, Notifier, OutboxStarter } from '../lib/app/ports.ts';
import type { NoticeMessage } from '../lib/contracts/events/notice.ts';
import type { Activity } from './activity.ts';

export interface LocalOutboxOptions {
  readonly activity: Activity;
  readonly log: Logger;
  /** The outbox function. */
  readonly call: () => Promise<unknown>;
}

/** Stands for asynchronous calls of the outbox function: one after the other, and what is asked for before a call begins is done by it. */
export class LocalOutbox implements OutboxStarter {
  readonly #options: LocalOutboxOptions;
  #asked = false;
  #stopped = false;
  #running: Promise<void> = Promise.resolve();

  constructor(options: LocalOutboxOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    if (this.#asked || this.#stopped) return;
    this.#asked = true;
    const end = this.#options.activity.begin();
    this.#running = this.#running.then(() => this.#call()).finally(end);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #call(): Promise<void> {
    this.#asked = false;
    try {
      await this.#options.call();
    } catch (error) {
      this.#options.log.error('outbox_failed', { error: String(error) });
    }
  }
}

/** Of single items and agents there may be thousands, and the picture shows them: the terminal tells of waves and of the platform. */
const shown = ({ event }: NoticeMessage): boolean => event.startsWith('wave_') || event === 'platform_alert';

/** Where notices go without a topic: all into the log, those that a person should see at once into the terminal as well. */
export const localNotifier = (log: Logger, say: (line: string) => void): Notifier => ({
  send: async (messages) => {
    for (const message of messages) {
      log.info('notice', { id: message.id, kind: message.event, notice: message.text });
      if (shown(message)) say(`notice: ${message.text}`);
    }
    return new Set(messages.map(({ id }) => id));
  },
});
