/** A part of the content, both ends included. */
export interface ContentRange {
  readonly from: number;
  readonly to: number;
}

/** The part that a `Range` header asks for; undefined for all of it, also for several ranges or units other than bytes. */
export function rangeOf(header: string | undefined, length: number): ContentRange | 'unsatisfiable' | undefined {
  const parts = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '');
  if (parts === null) return undefined;
  const [first, last] = [parts[1] ?? '', parts[2] ?? ''];
  if (first === '' && last === '') return undefined;
  if (first === '') {
    const count = Number(last);
    return count === 0 || length === 0 ? 'unsatisfiable' : { from: Math.max(0, length - count), to: length - 1 };
  }
  const from = Number(first);
  const to = last === '' ? length - 1 : Math.min(Number(last), length - 1);
  if (from >= length) return 'unsatisfiable';
  return to < from ? undefined : { from, to };
}
