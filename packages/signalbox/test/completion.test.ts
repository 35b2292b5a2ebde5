import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { main } from '../src/main.ts';
import { memoryTerminal } from './memory-terminal.ts';
import { entry, ownEnvironment, signalbox, temporaryFolder } from './program.ts';

const home = path.join(temporaryFolder(), 'home');
mkdirSync(home);
const dataDir = path.join(home, 'data');
const plan = fileURLToPath(new URL('../../../examples/03-review/plan.tsx', import.meta.url));

async function completed(...words: readonly string[]): Promise<readonly string[]> {
  const terminal = memoryTerminal();
  expect(await main(['complete', '--', ...words], terminal)).toBe(0);
  return terminal.printed.map(line => line.split('\t')[0] ?? '');
}

it('[X156] completes commands, their options and subcommands, and leaves files to the shell', async () => {
  expect(await completed('ver')).toEqual(['verify']);
  expect(await completed('fork', '--fr')).toEqual(['--frame']);
  expect(await completed('workflow', 'sch')).toEqual(['schema']);
  expect(await completed('run', '')).toEqual([]);
  expect(await completed('no-such-command', '')).toEqual([]);
  expect(await completed('chi')).toEqual([]);
});

it('[X156] completes runs and decisions by the end of their ids, in bash', async () => {
  signalbox(['run', plan, '--data-dir', dataDir], { cwd: home });
  const directory = ['--data-dir', dataDir];
  const runs = await completed('show', ...directory, '');
  expect(runs).toEqual([expect.stringMatching(/^[0-9a-f]{8}$/), '@last', '@failed']);
  expect(await completed('show', ...directory, runs[0]?.slice(0, 4) ?? '')).toEqual([runs[0]]);
  const { decision } = JSON.parse(signalbox(['decisions', '--json', ...directory], { cwd: home }).stdout);
  expect(await completed('approve', ...directory, '')).toEqual([decision.id.slice(-8)]);
  expect(await completed('show', runs[0] ?? '', ...directory, '')).toEqual([]);

  const { stdout: script } = signalbox(['completion', 'bash'], { cwd: home });
  const asked = `signalbox() { '${process.execPath}' '${entry}' "$@"; }
${script}
COMP_WORDS=(signalbox checkp); COMP_CWORD=1; _signalbox; printf '%s\\n' "\${COMPREPLY[@]}"
COMP_WORDS=(signalbox logs --data-dir '${dataDir}' '@'); COMP_CWORD=4; _signalbox; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['-c', asked], { encoding: 'utf8', env: ownEnvironment(home) });
  expect([stdout.trimEnd().split('\n'), stderr]).toEqual([['checkpoints', '@last', '@failed'], '']);
});

it('[X156] prints a script for each shell, and names them for another', async () => {
  for (const shell of ['zsh', 'fish']) {
    const terminal = memoryTerminal();
    expect(await main(['completion', shell], terminal)).toBe(0);
    expect(terminal.printed.join('\n')).toContain('signalbox complete --');
  }
  const terminal = memoryTerminal();
  expect(await main(['completion', 'tcsh'], terminal)).toBe(2);
  expect(terminal.complaints.join('\n')).toContain('bash, zsh, fish');
});
