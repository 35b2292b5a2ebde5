import { Transform } from 'node:stream';

/** The two ends of a line that was not let through. */
export interface LineEnds {
  readonly head: string;
  readonly tail: string;
}

/** Bytes of either end that are kept of a line that is too long. */
const END_BYTES = 512;
const NEWLINE = 0x0a;

/** Lets whole lines through. Of one that is longer than it may be only the ends are kept, and `onTooLong` is told them. */
export function boundedLines(mostBytes: number, onTooLong: (ends: LineEnds) => void): Transform {
  let parts: Buffer[] = [];
  let bytes = 0;

  /** Takes a piece of the current line; what is over the bound is forgotten but for its ends. */
  function take(piece: Buffer): void {
    bytes += piece.length;
    parts.push(piece);
    if (bytes <= mostBytes) return;
    const all = Buffer.concat(parts);
    parts = [all.subarray(0, END_BYTES), Buffer.from(all.subarray(-END_BYTES))];
  }

  /** The current line, if it is to be let through. */
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
