import type { ScreenSize } from './live-screen.ts';

/** A terminal that can be drawn on. */
export interface Screen {
  size(): ScreenSize;
  write(text: string): void;
  now(): number;
  /** Calls back at this interval, and when the size changed. */
  every(ms: number, draw: () => void): () => void;
  /** Calls back before other code writes to the same terminal. */
  beforeOthersWrite(told: (text: string) => void): () => void;
  /** Calls back when the process is about to end, for whatever reason. */
  beforeEnd(restore: () => void): () => void;
}

/** This process's terminal; undefined for a pipe or a terminal that cannot redraw. */
export function hostScreen(
  stdout: NodeJS.WriteStream = process.stdout,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Screen | undefined {
  if (stdout.isTTY !== true || env.TERM === 'dumb') return undefined;
  const write = stdout.write.bind(stdout);
  return {
    size: () => ({ width: stdout.columns || 80, height: stdout.rows || 24 }),
    write,
    now: () => Date.now(),
    every(ms, draw) {
      const timer = setInterval(draw, ms);
      stdout.on('resize', draw);
      return () => {
        clearInterval(timer);
        stdout.off('resize', draw);
      };
    },
    beforeOthersWrite(told) {
      const streams = [stdout, process.stderr].filter(stream => stream.isTTY);
      const originals = streams.map(stream => stream.write);
      for (const stream of streams) {
        const original = stream.write;
        stream.write = function (this: unknown, chunk: string | Uint8Array, ...rest: never[]) {
          told(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString());
          return Reflect.apply(original, stream, [chunk, ...rest]);
        } as typeof stream.write;
      }
      return () => {
        for (const [index, stream] of streams.entries()) stream.write = originals[index] as typeof stream.write;
      };
    },
    beforeEnd(restore) {
      // Last chance before a signal ends the process; it is sent again once the terminal is restored.
      const fatal = (signal: NodeJS.Signals) => {
        restore();
        for (const name of FATAL) process.off(name, fatal);
        process.kill(process.pid, signal);
      };
      process.on('exit', restore);
      for (const name of FATAL) process.on(name, fatal);
      return () => {
        process.off('exit', restore);
        for (const name of FATAL) process.off(name, fatal);
      };
    },
  };
}

/** Signals that nothing else in the program handles. */
const FATAL = ['SIGQUIT'] as const;
