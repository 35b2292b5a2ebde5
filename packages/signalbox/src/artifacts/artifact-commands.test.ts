import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { openOwnedStore, type RunId, thisMachine } from '@signalbox/app/host';
import { describe, expect, it, onTestFinished } from 'vitest';
import { memoryTerminal } from '../../test/memory-terminal.ts';
import { main } from '../main.ts';

const PICTURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1);
const AT = '2026-01-01T00:00:00.000Z' as never;

/** A data directory with one run, which kept two versions of a text and a picture. */
async function withArtifacts() {
  const folder = mkdtempSync(path.join(tmpdir(), 'artifacts-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const machine = thisMachine();
  const owned = openOwnedStore(folder, machine);
  if (!owned.ok) throw new Error(owned.error.message);
  const { store } = owned.value;
  const run = machine.ids.mint<RunId>();
  const names = await store.put([Buffer.from('one'), Buffer.from('two\t\u001b[2J\nline'), PICTURE]);
  if (!names.ok) throw new Error(names.error.message);
  const [one, two, picture] = names.value as never[];
  const ids = Array.from({ length: 3 }, () => machine.ids.mint() as never);
  const text = { kind: 'markdown', name: 'Notes', mimeType: 'text/markdown', key: 'notes', createdAt: AT } as const;
  const committed = await store.commit(
    {
      at: AT,
      run: {
        kind: 'create',
        run: {
          ...{ driver: 'plan', name: 'plan', tags: [], status: 'running', phase: 'EXECUTE', mode: 'AUTO' },
          ...{ globalMode: 'IMPLEMENTATION', input: null, limits: {}, seed: 1 },
        },
      },
      artifacts: [
        { ...text, id: ids[0] as never, digest: one as never, bytes: 3, content: 'one' },
        { ...text, id: ids[1] as never, digest: two as never, bytes: 13, content: 'two\t\u001b[2J\nline' },
        {
          ...{ kind: 'image', name: 'Dot', mimeType: 'image/png', alt: 'a dot', createdAt: AT },
          ...{ id: ids[2] as never, digest: picture as never, bytes: 9, node: 'build' as never },
        },
      ],
      events: [{ type: 'run.created', driver: 'plan', name: 'plan' }],
    },
    { run, epoch: 0, version: 0 },
  );
  if (!committed.ok) throw new Error(committed.error.message);
  owned.value.close();
  const call = async (...argv: readonly string[]) => {
    const terminal = memoryTerminal();
    const code = await main([...argv, '--data-dir', folder], terminal);
    return { code, printed: terminal.printed.join('\n'), complaints: terminal.complaints.join('\n') };
  };
  return { folder, run, ids: ids as readonly string[], call };
}

describe('signalbox artifacts', () => {
  it('lists the last versions of a run, or all, or those of a kind', async () => {
    const { run, ids, call } = await withArtifacts();
    const shown = async (...argv: readonly string[]) =>
      (await call('artifacts', run, ...argv, '--json')).printed
        .split('\n')
        .filter(line => line !== '')
        .map(line => JSON.parse(line).id);
    expect(await shown()).toEqual([ids[2], ids[1]]);
    expect(await shown('--all')).toEqual([ids[2], ids[1], ids[0]]);
    expect(await shown('--kind', 'image')).toEqual([ids[2]]);
    expect(await shown('--key', 'notes')).toEqual([ids[1]]);
    const plain = await call('artifacts', run.slice(0, 13));
    expect(plain).toMatchObject({ code: 0, complaints: '' });
    expect(plain.printed).toContain(`${ids[1]}  markdown  Notes  notes v2  13 bytes`);
    expect(await call('artifacts', 'none')).toMatchObject({ code: 1, printed: '' });
  });
});

describe('signalbox artifact', () => {
  it('[X10] prints text that a terminal cannot be fooled with, and says what a picture shows', async () => {
    const { ids, call } = await withArtifacts();
    expect(await call('artifact', ids[1] ?? '')).toEqual({
      code: 0,
      printed: 'two\t\\u{1b}[2J\nline',
      complaints: '',
    });
    expect((await call('artifact', `artifact://${ids[2]}`)).printed).toContain('image/png, 9 bytes: a dot');
    const known = JSON.parse((await call('artifact', ids[0] ?? '', '--json')).printed);
    expect(known).toMatchObject({ id: ids[0], key: 'notes', version: 1, text: 'one' });
  });

  it('[X10] writes the content into a new file, never over one, and knows no other id', async () => {
    const { folder, ids, call } = await withArtifacts();
    const file = path.join(folder, 'dot.png');
    expect(await call('artifact', ids[2] ?? '', '-o', file)).toEqual({ code: 0, printed: '', complaints: '' });
    expect(new Uint8Array(readFileSync(file))).toEqual(PICTURE);
    expect(await call('artifact', ids[0] ?? '', '-o', file)).toMatchObject({ code: 2 });
    expect(new Uint8Array(readFileSync(file))).toEqual(PICTURE);
    expect(await call('artifact', '../../etc/passwd')).toMatchObject({ code: 1 });
  });
});

describe('the turns of agents', () => {
  it('[V300] are listed with what a run kept, or alone, or not, and printed by their ids', async () => {
    const { call } = await withArtifacts();
    const bundle = fileURLToPath(new URL('../../../../spec/histories/agents.bundle', import.meta.url));
    const imported = await call('import', bundle, '--json');
    expect(imported, imported.printed).toMatchObject({ code: 0 });
    const { run } = JSON.parse(imported.printed);
    expect((await call('artifacts', run, '--kept')).printed).toBe('');
    expect((await call('artifacts', run, '--turns', '--json')).printed.split('\n')).toHaveLength(12);
    const listed = (await call('artifacts', run, '--json')).printed.split('\n').map(line => JSON.parse(line));
    const report = listed.filter(({ node }) => node === 'report');
    expect([listed.length, report.map(({ name }) => name)]).toEqual([
      12,
      ['prompt.full.txt', 'prompt.blocks.json', 'diff.patch'],
    ]);
    const [full, blocks, diff] = report.map(({ id }) => id);
    expect((await call('artifact', full)).printed).toMatch(/\[user\]\nWrite a report of these findings:/);
    expect(JSON.parse((await call('artifact', `artifact://${blocks}`)).printed)).toMatchObject({ role: null });
    // Its tools worked on another machine.
    expect((await call('artifact', diff)).printed).toMatch(/^# The snapshots of its tool calls are missing/);
    const ids = (await call('artifacts', run, '--turns', '--kind', 'diff', '--json')).printed.split('\n');
    expect(ids.map(line => JSON.parse(line).kind)).toEqual(['diff', 'diff', 'diff', 'diff']);
    expect((await call('artifacts', run, '--turns', '--key', 'notes')).printed).toBe('');
  });
});

describe('signalbox diff', () => {
  it('says so where a run has no workspace', async () => {
    const { run, call } = await withArtifacts();
    const said = await call('diff', run);
    expect([said.code, said.complaints]).toEqual([1, expect.stringContaining('has no workspace')]);
    expect((await call('diff', run, '--frame', 'x')).code).toBe(2);
  });
});
