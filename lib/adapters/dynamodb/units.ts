import { AsyncLocalStorage } from 'node:async_hooks';

export interface Units {
  write: number;
  read: number;
}

/** Capacity units as the service reports them (ReturnConsumedCapacity), in all and by the operation that spent them. */
export class UnitMeter {
  readonly total: Units = { write: 0, read: 0 };
  readonly byOperation = new Map<string, Units>();
  readonly #operation = new AsyncLocalStorage<string>();

  /** Everything that `work` spends is booked on `operation`; the outermost name wins. */
  within<T>(operation: string, work: () => Promise<T>): Promise<T> {
    return this.#operation.getStore() === undefined ? this.#operation.run(operation, work) : work();
  }

  count(write: number, read: number): void {
    const name = this.#operation.getStore() ?? 'other';
    const entry = this.byOperation.get(name) ?? { write: 0, read: 0 };
    this.byOperation.set(name, entry);
    for (const units of [this.total, entry]) {
      units.write += write;
      units.read += read;
    }
  }
}
