/**
 * A broken invariant: the program itself is wrong. Expected failures are returned as `Result`; a `Bug` is thrown, and
 * only a program's outermost function catches it.
 */
export class Bug extends Error {
  override readonly name = 'Bug';
}

/** Ends an exhaustive switch: it does not compile while a case is missing. */
export function unreachable(value: never): never {
  throw new Bug(`a case that cannot exist: ${JSON.stringify(value)}`);
}
