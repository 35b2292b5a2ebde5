/**
 * Ends the process, unless a reader has yet to take some of its output. Nothing else may be left to do: threads end wherever they are, and
 * nobody waits for Node to release their memory.
 */
export function exitIfWritten(code: number): void {
  if (process.stdout.writableLength === 0 && process.stderr.writableLength === 0) process.exit(code);
}
