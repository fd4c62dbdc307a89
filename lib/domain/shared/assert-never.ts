/** Makes the compiler prove that a switch names every case; reached only by a bug. */
export function assertNever(value: never): never {
  throw new Error(`unexpected value: ${String(value)}`);
}
