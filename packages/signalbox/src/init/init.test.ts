import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { memoryTerminal } from '../../test/memory-terminal.ts';
import { main } from '../main.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'init-'));
  // Agents that this machine has are not the test's.
  vi.stubEnv('PATH', '/nowhere');
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

async function init(...args: readonly string[]) {
  const terminal = memoryTerminal();
  const code = await main(['init', ...args, '--data-dir', path.join(folder, 'data')], terminal);
  return { code, printed: terminal.printed.join('\n'), complaints: terminal.complaints.join('\n') };
}

describe('signalbox init', () => {
  it('[X2] writes a plan, a tsconfig and a package.json into an empty or missing folder, and says what is next', async () => {
    const place = path.join(folder, 'new plans');
    const { code, printed, complaints } = await init(place);
    expect({ code, complaints, files: readdirSync(place).sort() }).toEqual({
      code: 0,
      complaints: '',
      files: ['package.json', 'plan.tsx', 'tsconfig.json'],
    });
    for (const part of ['run ', `'${place}/plan.tsx'`, 'npm install', '"mcpServers"']) expect(printed).toContain(part);
  });

  it('needs no package.json where there is one, or where the types are', async () => {
    writeFileSync(path.join(folder, 'package.json'), '{}');
    const { printed } = await init(path.join(folder, 'inside'));
    expect(readdirSync(path.join(folder, 'inside')).sort()).toEqual(['plan.tsx', 'tsconfig.json']);
    expect(printed).toMatch(/npm install --save-dev \S*signalbox typescript zod$/m);
    mkdirSync(path.join(folder, 'node_modules/signalbox'), { recursive: true });
    const { printed: installed } = await init(path.join(folder, 'beside'), '--json');
    expect(JSON.parse(installed)).toEqual({
      directory: path.join(folder, 'beside'),
      written: ['plan.tsx', 'tsconfig.json'],
      typesInstalled: true,
      agents: [],
    });
  });

  it('[X114] writes a package.json that has the type checker, and this checkout where it runs from one', async () => {
    const { printed } = await init(path.join(folder, 'own'));
    const written = JSON.parse(readFileSync(path.join(folder, 'own/package.json'), 'utf8'));
    const { devDependencies } = JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8'));
    const checkout = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
    expect(written).toEqual({
      private: true,
      type: 'module',
      scripts: { check: 'tsc --noEmit', dev: 'signalbox dev plan.tsx' },
      devDependencies: {
        signalbox: `file:${checkout}`,
        typescript: devDependencies.typescript,
        zod: expect.stringMatching(/^\d/),
      },
    });
    const [, snippet = ''] = /(\{\n[\s\S]*\})/.exec(printed) ?? [];
    expect(JSON.parse(snippet)).toEqual({
      mcpServers: { signalbox: { command: process.execPath, args: expect.any(Array) } },
    });
  });

  it('[X2] overwrites nothing, and then writes nothing at all, unless it is told to', async () => {
    writeFileSync(path.join(folder, 'tsconfig.json'), 'mine');
    const refused = await init(folder);
    expect(refused).toEqual({
      code: 2,
      printed: '',
      complaints:
        `error: tsconfig.json already exists in ${folder}; nothing was written.\n` +
        'Choose another folder with "signalbox init DIR", or overwrite with --force.',
    });
    expect(readdirSync(folder)).toEqual(['tsconfig.json']);
    expect(await init(folder, '--force')).toMatchObject({ code: 0 });
    expect(readFileSync(path.join(folder, 'tsconfig.json'), 'utf8')).toContain('"jsxImportSource": "signalbox"');
  });

  it('[X66] says how to add an agent where none is installed, and takes the built-in one', async () => {
    const { printed } = await init(path.join(folder, 'none'));
    expect(printed).toContain(
      'No agent is installed; plans use the built-in one. Add one:\n  signalbox agents add claude\n',
    );
    expect(await init(path.join(folder, 'own'), '--agent', 'builtin')).toMatchObject({ code: 0 });
    expect(readFileSync(path.join(folder, 'own/plan.tsx'), 'utf8')).toContain('plugin="builtin"');
  });

  it('[X66] names the agents that it finds, and puts one into the plan', async () => {
    mkdirSync(path.join(folder, 'data'), { mode: 0o700 });
    writeFileSync(
      path.join(folder, 'data/config.json'),
      JSON.stringify({ agents: { mine: { command: ['/bin/sh'] } } }),
    );
    const { printed } = await init(path.join(folder, 'plain'));
    expect(printed).toMatch(/^Agents on this machine:\n {2}mine {8}mine \S+, from config\.json$/m);
    expect(printed).toContain('signalbox do "fix the failing test" --with mine');
    const wrong = await init(path.join(folder, 'wrong'), '--agent', 'nobody');
    expect(wrong).toMatchObject({ code: 2, complaints: expect.stringContaining('"nobody" is not installed here') });
    expect(readdirSync(folder)).not.toContain('wrong');
    expect(await init(path.join(folder, 'with'), '--agent', 'mine')).toMatchObject({ code: 0 });
    expect(readFileSync(path.join(folder, 'with/plan.tsx'), 'utf8')).toContain('plugin="mine"\n      apply="ask"');
  });

  it('[X66] asks the person at the terminal', async () => {
    mkdirSync(path.join(folder, 'data'), { mode: 0o700 });
    writeFileSync(
      path.join(folder, 'data/config.json'),
      JSON.stringify({ agents: { mine: { command: ['/bin/sh'] } } }),
    );
    const answers = ['nobody', 'mine'];
    const terminal = { ...memoryTerminal(), ask: async () => answers.shift() };
    const place = path.join(folder, 'asked');
    expect(await main(['init', place, '--data-dir', path.join(folder, 'data')], terminal)).toBe(0);
    expect([answers, readFileSync(path.join(place, 'plan.tsx'), 'utf8')]).toEqual([
      [],
      expect.stringContaining('plugin="mine"'),
    ]);
  });

  it('says what is wrong where it cannot write', async () => {
    writeFileSync(path.join(folder, 'file'), '');
    expect(await init(path.join(folder, 'file'))).toMatchObject({
      code: 2,
      complaints: expect.stringContaining('ENOTDIR'),
    });
  });
});
