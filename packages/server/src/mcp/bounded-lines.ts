import { Transform } from 'node:stream';

/** The two ends of a line that was dropped. */
export interface LineEnds {
  readonly head: string;
  readonly tail: string;
}

/** How many bytes of either end of a dropped line are kept. */
const END_BYTES = 512;
const NEWLINE = 0x0a;

/** Passes complete lines. Lines over the limit are dropped, and `onTooLong` gets their ends. */
export function boundedLines(mostBytes: number, onTooLong: (ends: LineEnds) => void): Transform {
  let parts: Buffer[] = [];
  let bytes = 0;

  /** Adds a piece to the current line; beyond the limit only the ends are kept. */
  function take(piece: Buffer): void {
    bytes += piece.length;
    parts.push(piece);
    if (bytes <= mostBytes) return;
    const all = Buffer.concat(parts);
    parts = [all.subarray(0, END_BYTES), Buffer.from(all.subarray(-END_BYTES))];
  }

  /** The current line, if it may pass. */
  function ended(): Buffer | undefined {
    const line = Buffer.concat(parts);
    const isTooLong = bytes > mostBytes;
    parts = [];
    bytes = 0;
    if (!isTooLong) return line;
    onTooLong({ head: line.toString('utf8', 0, END_BYTES), tail: line.toString('utf8', line.length - END_BYTES) });
    return undefined;
  }

  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let from = 0;
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
        take(chunk.subarray(from, end + 1));
        from = end + 1;
        const line = ended();
        if (line !== undefined) this.push(line);
      }
      if (from < chunk.length) take(chunk.subarray(from));
      done();
    },
    flush(done) {
      const line = ended();
      done(null, line?.length === 0 ? undefined : line);
    },
  });
}
