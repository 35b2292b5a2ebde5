import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** Another program, which has a file open for writing, like a server with its log. */
export interface WritingProgram {
  readonly pid: number;
  /** Resolves once the line is written. */
  write(line: string): Promise<void>;
  close(): Promise<void>;
}

export function startWriting(file: string, how: 'append' | 'read and write' = 'append'): Promise<WritingProgram> {
  const open = how === 'append' ? '>>' : '<>';
  // Programs that it started have the file too. They end before it does: the trap waits for the last one.
  const others = '(trap exit TERM; while :; do sleep 0.01; done)';
  const lines = 'while read -r line; do echo "$line" >&3; echo written; done';
  const script = `exec 3${open}"$1"; ${others} & echo open; ${lines}; kill $!; wait $!`;
  return startProgram('/bin/sh', ['-c', script, 'sh', file]);
}

/** Maps a file to memory, closes it, and writes what it is sent to the memory. */
export function startMapping(perl: string, file: string): Promise<WritingProgram> {
  const [mmap, read] = process.arch === 'arm64' ? [222, 63] : [9, 0];
  const script = [
    '$| = 1; open(my $file, "+<", $ARGV[0]) or die; my $size = -s $file;',
    `my $at = syscall(${mmap}, 0, $size, 3, 1, fileno($file), 0); close $file; print "mapped\\n";`,
    `while (syscall(${read}, 0, $at, $size) > 0) { print "written\\n" }`,
  ];
  return startProgram(perl, ['-e', script.join(' '), file]);
}

async function startProgram(program: string, words: readonly string[]): Promise<WritingProgram> {
  const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const answer = async () => {
    if ((await answers.next()).done === true) throw new Error(`${program} ended`);
  };
  await answer();
  if (child.pid === undefined) throw new Error(`${program} did not start`);
  return {
    pid: child.pid,
    async write(line) {
      child.stdin.write(`${line}\n`);
      await answer();
    },
    async close() {
      child.stdin.end();
      await exited;
    },
  };
}
