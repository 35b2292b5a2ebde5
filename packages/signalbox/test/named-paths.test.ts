import { symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { main } from '../src/main.ts';
import { memoryTerminal } from './memory-terminal.ts';
import { temporaryFolder } from './program.ts';

const folder = temporaryFolder();
const at = (name: string) => path.join(folder, name);
symlinkSync('loop', at('loop'));
writeFileSync(at('file'), 'no backup');

/** Root may open anything: a link to itself is refused to everybody. */
it.each([
  ['run', at('loop')],
  ['import', at('loop')],
  ['replay', at('loop')],
  ['replay', at('loop'), '--verify'],
  ['verify', at('loop')],
  ['restore', at('loop')],
  ['restore', at('file')],
  ['restore', path.join(at('file'), 'below')],
  ['sandbox', at('loop')],
  ['import', at('n'.repeat(300))],
])('[X61] %s %s is a usage error, not an internal one', async (...argv) => {
  const terminal = memoryTerminal();
  const code = await main([...argv, '--data-dir', at('data')], terminal);
  expect({ code, complaints: terminal.complaints }).toEqual({
    code: 2,
    complaints: [expect.stringMatching(/^error: /)],
  });
  expect(terminal.complaints[0]).not.toContain('internal error');
});

it('[X61] doctor reports a data directory that cannot be read, and ends', async () => {
  const terminal = memoryTerminal();
  expect(await main(['doctor', '--data-dir', at('loop')], terminal)).toBe(1);
  expect(terminal.complaints).toEqual([]);
  expect(terminal.printed.join('\n')).toContain(`the data directory ${at('loop')} cannot be read (ELOOP)`);
});
