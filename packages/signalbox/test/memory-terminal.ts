import type { Terminal } from '../src/terminal.ts';

/** A terminal that keeps what it was told. */
export interface MemoryTerminal extends Terminal {
  readonly printed: readonly string[];
  readonly complaints: readonly string[];
}

export function memoryTerminal(hasColours = false): MemoryTerminal {
  const printed: string[] = [];
  const complaints: string[] = [];
  return {
    print: text => printed.push(text),
    complain: text => complaints.push(text),
    hasColours,
    printed,
    complaints,
  };
}
