import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type Block, blocksIn } from '../../../test/docs/markdown.ts';
import { entry, ownEnvironment, PATIENCE_MS, temporaryFolder } from './program.ts';

const docs = fileURLToPath(new URL('../../../docs', import.meta.url));
/** What these show is compared to the letter by `readme.test.ts`, and that page has a test of its own. */
const ELSEWHERE = ['tour-of-the-journal.md', 'guided-workflows.md'];
/** What a reader of a page has done before. */
const BEFORE: Readonly<Record<string, string>> = {
  'upgrading.md': 'signalbox init first && signalbox run first/plan.tsx',
};

const pages = readdirSync(docs)
  .filter(file => file.endsWith('.md') && !ELSEWHERE.includes(file))
  .map(file => ({ file, blocks: blocksIn(readFileSync(path.join(docs, file), 'utf8')) }))
  .filter(({ blocks }) => blocks.some(({ language }) => language === 'console'));

interface Shown {
  readonly command: string;
  readonly status: number;
  readonly answer: readonly string[];
}

/** The commands of a block, each with the lines below it. `# exits with 3` says how it ends. */
function commandsOf({ text }: Block): readonly Shown[] {
  const shown: { command: string; status: number; answer: string[] }[] = [];
  for (const line of text.trimEnd().split('\n')) {
    if (line.startsWith('$ ')) {
      const status = Number(/# exits with (\d+)$/.exec(line)?.[1] ?? 0);
      shown.push({ command: line.slice(2), status, answer: [] });
    } else shown.at(-1)?.answer.push(line);
  }
  return shown;
}

/** A line `…` stands for any lines, `…` in a line for any text. */
function isShownBy(shown: readonly string[], answer: string): boolean {
  const escaped = (line: string) => line.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const parts = shown.map(line =>
    line === '…'
      ? '(?:.*\\n)*?'
      : `${escaped(line)
          .replaceAll('…', '.*')
          .replace(/^\\.\\\*/, '…')}\\n`,
  );
  return new RegExp(`^${parts.join('')}$`).test(answer === '' || answer.endsWith('\n') ? answer : `${answer}\n`);
}

describe('[X152] the commands of a page, as a reader types them', () => {
  it('are on more than five pages', () => {
    expect(pages.length).toBeGreaterThan(5);
  });

  it.each(pages)('$file: each answers as it is shown', ({ file, blocks }) => {
    const cwd = temporaryFolder();
    const bin = path.join(cwd, '.bin');
    mkdirSync(bin);
    writeFileSync(path.join(bin, 'signalbox'), `#!/bin/sh\nexec '${process.execPath}' '${entry}' "$@"\n`);
    chmodSync(path.join(bin, 'signalbox'), 0o755);
    const own = ownEnvironment(cwd);
    const env = { ...own, PATH: [bin, path.dirname(process.execPath), own.PATH].join(path.delimiter), LC_ALL: 'C' };
    const said = (command: string) =>
      spawnSync('sh', ['-c', `exec 2>&1\n${command}`], {
        cwd,
        env,
        encoding: 'utf8',
        timeout: PATIENCE_MS,
        killSignal: 'SIGKILL',
      });
    const before = BEFORE[file];
    if (before !== undefined) expect(said(before).status).toBe(0);
    let decision = 'none';
    const wrong: unknown[] = [];
    for (const block of blocks) {
      if (block.file !== undefined) {
        mkdirSync(path.dirname(path.join(cwd, block.file)), { recursive: true });
        writeFileSync(path.join(cwd, block.file), block.text);
      }
      for (const { command, status, answer } of block.language === 'console' ? commandsOf(block) : []) {
        const { status: ended, stdout } = said(command.replace('DECISION', decision));
        const [, listed, asked] = /^([0-9a-f-]{36}) {2}|signalbox approve ([0-9a-f-]{36})/m.exec(stdout) ?? [];
        decision = listed ?? asked ?? decision;
        if (ended !== status || (answer.length > 0 && !isShownBy(answer, stdout))) {
          wrong.push({ command, status: ended, answer: stdout.split('\n') });
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  it('are told apart from what they do not answer', () => {
    const answer = '▶ a 1\n✓ b\n  output {"n":1}\n';
    for (const shown of [['▶ a …', '…'], ['…', '  output {"n":1}'], ['…'], ['▶ a 1', '✓ b', '  output {"n":…}']]) {
      expect([shown, isShownBy(shown, answer)]).toEqual([shown, true]);
    }
    for (const shown of [['▶ a …'], ['✓ b', '…'], ['…', '✓ b'], ['▶ b', '…']]) {
      expect([shown, isShownBy(shown, answer)]).toEqual([shown, false]);
    }
    expect(isShownBy(['… human x: waits'], '… human x: waits\n')).toBe(true);
  });
});
