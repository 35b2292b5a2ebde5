import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { entry, ownEnvironment, PATIENCE_MS } from './program.ts';

export interface Exchange {
  readonly command: string;
  readonly answer: readonly string[];
}

/** The commands of a document's `console` blocks, each with the lines that it shows below. */
export function exchangesOf(document: string): readonly Exchange[] {
  const exchanges: { command: string; answer: string[] }[] = [];
  for (const [, block = ''] of document.matchAll(/^```console\n(.*?)^```$/gms)) {
    for (const line of block.trimEnd().split('\n')) {
      if (line.startsWith('$ ')) exchanges.push({ command: line.slice(2), answer: [] });
      else exchanges.at(-1)?.answer.push(line);
    }
  }
  return exchanges;
}

/** Runs commands one after the other in one shell, in which `signalbox` is the program from its sources. */
export function answersTo(commands: readonly string[], cwd: string): readonly Exchange[] {
  const END = '-- end of answer --';
  const own = ownEnvironment(cwd);
  const steps = commands.map(command => `${command}\necho '${END}'`);
  const script = [`signalbox() { '${process.execPath}' '${entry}' "$@"; }`, ...steps].join('\n');
  const { stdout } = spawnSync('sh', ['-c', `exec 2>&1\n${script}`], {
    cwd,
    env: { ...own, PATH: `${path.dirname(process.execPath)}${path.delimiter}${own.PATH}`, LC_ALL: 'C' },
    encoding: 'utf8',
    timeout: PATIENCE_MS,
    killSignal: 'SIGKILL',
  });
  const answers = stdout.split(`${END}\n`).map(answer => answer.trimEnd());
  return commands.map((command, index) => ({ command, answer: answers[index] ? answers[index].split('\n') : [] }));
}
