import { createInterface } from 'node:readline/promises';

/** Asks the person at the terminal; returns undefined if there isn't one. */
export async function confirm(question: string): Promise<boolean | undefined> {
  const { stdin: input, stderr: output } = process;
  if (input.isTTY !== true || output.isTTY !== true) return undefined;
  const reader = createInterface({ input, output });
  try {
    return /^y(es)?$/i.test((await reader.question(`${question} [y/N] `)).trim());
  } finally {
    reader.close();
  }
}
