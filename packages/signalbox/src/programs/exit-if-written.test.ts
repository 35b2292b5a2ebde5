import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

const MODULE = JSON.stringify(new URL('./exit-if-written.ts', import.meta.url).href);

/** A program that prints so many characters and then asks to exit, while a timer keeps it alive for a moment. */
function ended(characters: number): {
  readonly status: number | null;
  readonly printed: number;
  readonly said: string;
} {
  const program = `import { exitIfWritten } from ${MODULE};
let isOver = false;
process.on('exit', () => console.error(isOver ? 'by itself' : 'at once'));
process.stdout.write('x'.repeat(${characters}), () => { isOver = true; });
process.exitCode = 3;
exitIfWritten(3);
setImmediate(() => console.error('went on'));`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    maxBuffer: 2 * characters + 1_000_000,
  });
  return { status, printed: stdout.length, said: stderr };
}

describe('[A820] a program that has nothing left to do', () => {
  it('exits at once', () => {
    expect(ended(10)).toEqual({ status: 3, printed: 10, said: 'at once\n' });
  });

  it('exits by itself if a reader has not taken its output yet', () => {
    expect(ended(8_000_000)).toEqual({ status: 3, printed: 8_000_000, said: 'went on\nby itself\n' });
  });
});
