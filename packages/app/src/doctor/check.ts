/** One requirement of Signalbox on a machine. */
export interface Check {
  readonly name: string;
  /** `warn`: Signalbox works, but one of its features does not. */
  readonly status: 'ok' | 'warn' | 'fail';
  readonly found: string;
  /** What to do; always present unless the status is ok. */
  readonly advice?: string;
}

export function passed(name: string, found: string): Check {
  return { name, status: 'ok', found };
}

export function warned(name: string, found: string, advice: string): Check {
  return { name, status: 'warn', found, advice };
}

export function failed(name: string, found: string, advice: string): Check {
  return { name, status: 'fail', found, advice };
}
