import { styleText } from 'node:util';
import type { ErrorEnvelope } from '@signalbox/app';
import { hostScreen, type Screen } from './live/screen.ts';

/** The program's output. */
export interface Terminal {
  /** One or more lines of the answer, on standard output. */
  print(text: string): void;
  /** The same on standard error, for anything that is not the answer. */
  complain(text: string): void;
  readonly hasColours: boolean;
  /** Asks the person at the terminal, if there is one: a line, or undefined if there is none. */
  readonly ask?: ((question: string, ending: AbortSignal) => Promise<string | undefined>) | undefined;
  /** Calls back for each key that is pressed, if there is a person at the terminal, until the returned function is called. */
  readonly keys?: ((pressed: (key: string) => void) => () => void) | undefined;
  /** Set if the terminal can redraw. */
  readonly screen?: Screen | undefined;
}

export function hostTerminal(): Terminal {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', ignoreClosedPipe);
  return {
    print: text => process.stdout.write(`${text}\n`),
    complain: text => process.stderr.write(`${text}\n`),
    hasColours: process.stdout.isTTY === true && !process.env.NO_COLOR,
    screen: hostScreen(),
    // Standard input last: Node creates its stream when it is first asked for, which takes milliseconds.
    ...(process.stdout.isTTY === true && process.stdin.isTTY === true && { ask: askPerson, keys: readKeys }),
  };
}

function readKeys(pressed: (key: string) => void): () => void {
  const { stdin } = process;
  const take = (text: string) => {
    // The terminal no longer makes a signal of it.
    if (text === '\u0003') process.kill(process.pid, 'SIGINT');
    else pressed(text);
  };
  stdin.setRawMode(true).setEncoding('utf8').on('data', take).resume();
  return () => {
    stdin.off('data', take).setRawMode(false).pause();
  };
}

async function askPerson(question: string, ending: AbortSignal): Promise<string | undefined> {
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  // Ctrl-C is the program's, whoever reads the terminal.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  const closed = new Promise<undefined>(resolve => lines.once('close', () => resolve(undefined)));
  try {
    return await Promise.race([lines.question(question, { signal: ending }), closed]);
  } catch {
    return undefined;
  } finally {
    lines.close();
  }
}

/** The reader has gone (`signalbox … | head -1`), or the terminal was closed. Neither is an error. */
function ignoreClosedPipe(cause: NodeJS.ErrnoException): void {
  if (cause.code !== 'EPIPE' && cause.code !== 'EIO') throw cause;
}

export interface Paint {
  good(text: string): string;
  bad(text: string): string;
  doubtful(text: string): string;
  strong(text: string): string;
  faint(text: string): string;
  /** Text that opens an address, where the terminal can. */
  link(text: string, url: string): string;
}

export function paintOf({ hasColours }: Terminal): Paint {
  const paint = (format: Parameters<typeof styleText>[0]) => (text: string) =>
    hasColours ? styleText(format, text, { validateStream: false }) : text;
  return {
    good: paint('green'),
    bad: paint('red'),
    doubtful: paint('yellow'),
    strong: paint('bold'),
    faint: paint('dim'),
    link: (text, url) => (hasColours && url !== '' ? `\u001B]8;;${url}\u001B\\${text}\u001B]8;;\u001B\\` : text),
  };
}

/** Makes untrusted text harmless: a terminal obeys control characters. */
export function shown(text: string): string {
  // Fast path: most text is plain ASCII.
  if (/^[ -~]*$/.test(text)) return text;
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    character => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** An argument quoted for a shell. */
export function quoted(argument: string): string {
  return /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`;
}

/** The one shape of an error: for people, or as JSON for programs. */
export function reportError(terminal: Terminal, error: ErrorEnvelope, asJson: boolean): void {
  if (asJson) terminal.print(JSON.stringify(error));
  else terminal.complain(`error: ${shown(error.message)}\n${shown(error.suggestion)}`);
}
