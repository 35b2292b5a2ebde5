import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { constants, deflateRawSync } from 'node:zlib';
import { canonicalJson, type RunId } from '@signalbox/model';
import { openArchive } from '@signalbox/store';
import fc from 'fast-check';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { sized } from '../../../test/sized.ts';
import { readsBodies } from '../../store/test/support/forged-logs.ts';
import { openContainer, writeContainer } from '../src/bundles/bundle-container.ts';
import { exportRun, type RunExport } from '../src/bundles/export-run.ts';
import { importRun } from '../src/bundles/import-run.ts';
import { openBundle } from '../src/bundles/open-bundle.ts';
import { verifyBundle } from '../src/bundles/verify-bundle.ts';
import { thisMachine } from '../src/machine.ts';
import { verifyBundleReplay, verifyRunReplay } from '../src/replay/verify-replay.ts';
import { openSecrets } from '../src/secrets/open-secrets.ts';
import { openTestHost, planText, type TestHost } from './support/open-host.ts';
import { temporaryFolder } from './temporary-folder.ts';

const soak = process.env.SIGNALBOX_SOAK === '1';
const machine = thisMachine();
const opened: TestHost[] = [];
afterEach(async () => {
  for (const host of opened.splice(0)) await host.close();
});

async function open(folder: string): Promise<TestHost> {
  const host = await openTestHost(folder, { threads: { threads: 1 } });
  opened.push(host);
  return host;
}

const story = planText(
  `<Phase name="count">
     <While condition={() => ctx.state.get('n') < 3} maxIterations={5}>
       <Task id="count" run={({ iteration }) => iteration} onFinished={() => ctx.state.update('n', n => n + 1)} />
     </While>
   </Phase>
   <Phase name="below"><SubPlan id="child" plan={child} input={{ words: 'x'.repeat(70_000) }} onFinished={out => ctx.state.set('below', out.done)} /></Phase>
   <Phase name="ask"><Human id="ask" prompt="Go on?" onFinished={yes => ctx.state.set('said', yes)} /></Phase>
   <Phase name="end"><Task id="last" run={() => 'done'} onFinished={text => ctx.state.set('end', text)} /></Phase>`,
  'z.object({ n: z.number().default(0), below: z.any(), said: z.any(), end: z.string().optional() })',
  `import { words } from './words.ts';
   const child = definePlan({ name: 'child', input: z.any(), state: z.object({ done: z.string().optional() }), render: ctx =>
     <Task id="inner" run={() => words} onFinished={text => ctx.state.set('done', text)} /> });`,
);

/** A run that waits for a person, and its bundle. */
async function waiting(secrets: readonly string[] = []) {
  const folder = temporaryFolder();
  writeFileSync(path.join(folder, 'words.ts'), "export const words = 'below';\n");
  const host = await open(folder);
  const run = await host.start('story', story, { input: { key: 'sk-very-secret-value' } });
  expect(await host.end(run)).toMatchObject({ status: 'waiting' });
  const file = path.join(folder, 'run.bundle');
  return { folder, host, run, file, exported: await exported(folder, run, file, secrets) };
}

async function exported(folder: string, run: RunId, file: string, values: readonly string[] = []): Promise<RunExport> {
  const archive = openArchive({ path: path.join(folder, 'data', 'db.sqlite') });
  if (!archive.ok) throw new Error(archive.error.message);
  const env = Object.fromEntries(values.map((value, at) => [`PLANTED_${at}_TOKEN`, value]));
  const { filter: secrets } = openSecrets({ dataDirectory: path.join(folder, 'data'), env, readOnly: true });
  const done = await exportRun({ archive: archive.value, clock: machine.clock, appVersion: '1', secrets }, run, file);
  archive.value.close();
  if (!done.ok) throw new Error(done.error.message);
  return done.value;
}

function into(host: TestHost, folder: string) {
  return { store: host.store, dataDirectory: path.join(folder, 'data'), machine, by: 'tester' };
}

async function collected(lines: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const line of lines) all.push(line);
  return all;
}

async function linesOf(file: string): Promise<string[]> {
  const container = await openContainer(file);
  try {
    return await collected(container.lines());
  } finally {
    await container.close();
  }
}

/** A bundle whose last record of the first run has another body, with every hash and digest made again. */
async function forge(from: string, to: string, change: (body: object) => object): Promise<void> {
  const hashOf = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;
  const lines = (await linesOf(from)).map(line => JSON.parse(line));
  const first = lines.findIndex(line => line.part?.endsWith('/records'));
  const end = lines.findIndex((line, at) => at > first && line.row === undefined);
  let before = `sha256:${'0'.repeat(64)}`;
  const rows = lines.slice(first + 1, end).map(({ row }, at, all) => {
    const body = at === all.length - 1 ? JSON.stringify(change(JSON.parse(row.body))) : row.body;
    const header = JSON.stringify({ ...JSON.parse(row.header), body: hashOf(body) });
    before = hashOf(`${before}\n${header}`);
    return { body, hash: before, header };
  });
  const text = canonicalJson(rows);
  const { entries } = lines.at(-1).end.integrity;
  Object.assign(
    entries.find((entry: { readonly path: string }) => entry.path === lines[first].part),
    { sha256: hashOf(text), bytes: Buffer.byteLength(text) },
  );
  const forged = lines.toSpliced(first + 1, rows.length, ...rows.map(row => ({ row })));
  await writeContainer(
    to,
    (async function* () {
      for (const line of forged) yield canonicalJson(line);
    })(),
  );
}

/** Packs one block many times, without ever having all of it. */
function packMany(file: string, blocks: readonly (readonly [text: string, times: number])[]): void {
  const packed = blocks.flatMap(([text, times]) =>
    Array<Buffer>(times).fill(deflateRawSync(text, { finishFlush: constants.Z_FULL_FLUSH })),
  );
  const body = Buffer.concat([...packed, deflateRawSync(''), Buffer.alloc(8)]);
  const header = Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255, 36, 0, 0x53, 0x42, 32, 0]);
  writeFileSync(file, Buffer.concat([header, createHash('sha256').update(body).digest(), body]));
}

const MB = 1024 * 1024;
const approve = { resolutionType: 'approve', rationale: 'fine', actionKind: 'review' } as const;

describe('a bundle', () => {
  it('[A55] of one data directory verifies, imports and resumes in another', async () => {
    const first = await waiting();
    expect(first.exported).toMatchObject({ run: first.run, runs: 2 });
    expect(await verifyBundleReplay(first.file, { machine })).toMatchObject({ ok: true, value: { ok: true } });

    const folder = temporaryFolder();
    const host = await open(folder);
    const imported = await importRun(into(host, folder), first.file);
    if (!imported.ok) throw new Error(imported.error.message);
    const { run } = imported.value;
    expect(run).not.toBe(first.run);
    const { head = '' } = (await first.host.store.run(first.run)) ?? {};
    expect(imported.value).toMatchObject({ runs: 2, from: { run: first.run, head } });
    expect(await host.store.run(run)).toMatchObject({
      status: 'waiting',
      origin: { kind: 'import', run: first.run, head, bundle: first.exported.digest },
    });
    expect(await verifyRunReplay(path.join(folder, 'data'), run, { machine })).toMatchObject({
      ok: true,
      value: { ok: true },
    });

    // The original is gone, files and all: the run goes on with what came along.
    await first.host.close();
    opened.splice(0, 1);
    rmSync(first.folder, { recursive: true });
    const [question] = await host.store.decisions({ run, status: ['open'] });
    expect((await host.store.decisions({ run })).length).toBe(1);
    await host.host.answer(question?.decision.id ?? ('' as never), { resolution: approve }, 'tester');
    expect((await host.host.resume(run, { trust: true, anyFile: true, by: 'tester' })).ok).toBe(true);
    expect(await host.end(run)).toMatchObject({ status: 'completed', output: { n: 3, below: 'below', end: 'done' } });
    // The child was found again, and not begun anew.
    const children = await host.store.children(run);
    expect(children).toHaveLength(1);
    expect((await host.store.tasks(run)).map(({ status }) => status)).toEqual(Array(6).fill('done'));
    expect(await verifyRunReplay(path.join(folder, 'data'), run, { machine })).toMatchObject({
      ok: true,
      value: { ok: true },
    });
  });

  it('[A56] that is imported twice is two runs, which say where they come from', async () => {
    const first = await waiting();
    const runs = [];
    for (let times = 0; times < 2; times++) {
      const imported = await importRun(into(first.host, first.folder), first.file);
      runs.push(imported.ok ? imported.value.run : imported.error);
    }
    expect(new Set([first.run, ...runs]).size).toBe(3);
    for (const run of runs as RunId[]) {
      const events = (await first.host.store.events(run, 0, 1000)).map(({ event }) => event);
      const created = events.find(({ type }) => type === 'run.created');
      expect(created).toMatchObject({ origin: { kind: 'import', run: first.run } });
      expect(events.at(-1)).toMatchObject({ type: 'run.imported', run: first.run, by: 'tester' });
      expect(events.every(({ runId }, seq) => runId === run && events[seq]?.seq === seq)).toBe(true);
    }
  });

  it('[A57] in which any byte is another is refused, whichever it is', async () => {
    const { file, folder } = await waiting();
    const bytes = readFileSync(file);
    const broken = path.join(folder, 'broken.bundle');
    const refused = async (at: number, bits: number) => {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ bits;
      writeFileSync(broken, changed);
      const verdict = await verifyBundle(broken);
      expect([at, verdict.ok ? 'sound' : verdict.error.code]).toEqual([at, expect.stringMatching(/^BUNDLE_/)]);
    };
    if (soak) for (let at = 0; at < bytes.length; at++) await refused(at, 1 << (at % 8));
    else {
      const places = [...Array(60).keys(), ...Array.from({ length: 12 }, (_, index) => bytes.length - 1 - index)];
      for (const at of places) await refused(at, 1 << (at % 8));
      await fc.assert(fc.asyncProperty(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), refused), {
        numRuns: 40,
      });
    }
    for (const cut of [0, 1, 40, bytes.length - 1]) {
      writeFileSync(broken, bytes.subarray(0, cut));
      expect(await verifyBundle(broken)).toMatchObject({ ok: false });
    }
    writeFileSync(broken, Buffer.concat([bytes, Buffer.from('x')]));
    expect(await verifyBundle(broken)).toMatchObject({ ok: false, error: { code: 'BUNDLE_INTEGRITY_FAILED' } });
  });

  it('[A58] whose parts were changed and packed again is refused, whichever part it is', async () => {
    const { file, folder } = await waiting();
    const lines: string[] = [];
    lines.push(...(await linesOf(file)));
    const broken = path.join(folder, 'broken.bundle');
    const packed = async (changed: readonly string[]) => {
      await writeContainer(
        broken,
        (async function* () {
          yield* changed;
        })(),
      );
      const verdict = await verifyBundle(broken);
      return verdict.ok ? 'sound' : verdict.error.code;
    };
    expect(await packed(lines)).toBe('sound');
    const parts = new Map<string, number[]>();
    let part = 'head';
    lines.forEach((line, index) => {
      part = line.startsWith('{"part":') ? JSON.parse(line).part : part;
      if (line.startsWith('{"row":')) parts.set(part, [...(parts.get(part) ?? []), index]);
    });
    expect(parts.size).toBeGreaterThan(4);
    for (const [name, rows] of parts) {
      const at = rows[Math.floor(rows.length / 2)] ?? 0;
      const line = lines[at] ?? '';
      const digit = line.search(/[0-9](?=[^0-9]*$)/);
      const other = line[digit] === '1' ? '2' : '1';
      const changed = lines.with(at, `${line.slice(0, digit)}${other}${line.slice(digit + 1)}`);
      expect([name, await packed(changed)]).toEqual([name, expect.stringMatching(/^BUNDLE_/)]);
      const without = lines.toSpliced(at, 1);
      expect([name, await packed(without)]).toEqual([name, expect.stringMatching(/^BUNDLE_/)]);
    }
  });

  it.each([
    ['has a member that no commit writes', (body: object) => ({ ...body, planted: true })],
    ['lacks its salt', ({ salt: _, ...body }: { readonly salt?: string }) => body],
  ])('[A760] sealed again whose record %s is refused by verify, import and replay alike', async (_, change) => {
    const { file, folder } = await waiting();
    const forged = path.join(folder, 'forged.bundle');
    await forge(file, forged, change);
    const host = await open(temporaryFolder());
    const verified = await verifyBundle(forged);
    const looked = await openBundle(forged);
    const imported = await importRun(into(host, folder), forged);
    expect([verified, looked, imported].map(each => (each.ok ? 'sound' : each.error.code))).toEqual([
      'BUNDLE_INVALID_FORMAT',
      'BUNDLE_INVALID_FORMAT',
      'BUNDLE_INTEGRITY_FAILED',
    ]);
    const said = `${forged} is not a valid bundle: a record is refused: its body is not what a commit writes`;
    expect(verified).toMatchObject({ error: { message: expect.stringContaining(said) } });
    expect(looked).toEqual(verified);
  });

  it('[A761] that cannot be unpacked for lack of a temporary directory says so, and blames neither file nor data', async () => {
    const { file, folder } = await waiting();
    const missing = path.join(folder, 'missing');
    vi.stubEnv('TMPDIR', missing);
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    const looked = await openBundle(file);
    expect(await verifyBundle(file)).toEqual(looked);
    expect(looked).toMatchObject({
      error: {
        code: 'STORE_IO_FAILED',
        message: expect.stringContaining(`${file} cannot be unpacked in the temporary directory ${missing}: `),
        suggestion: 'Make room there, or set TMPDIR to another directory.',
      },
    });
  });

  it('[A502] that is made to exhaust its reader is refused', async () => {
    const { file, folder } = await waiting();
    const lines = await linesOf(file);
    const hostile = path.join(folder, 'hostile.bundle');
    const why = async () => {
      const verdict = await verifyBundle(hostile);
      return verdict.ok ? 'sound' : `${verdict.error.code} ${verdict.error.message.slice(hostile.length)}`;
    };
    const begun = `${lines.slice(0, -1).join('\n')}\n`;
    const [endless, many] = ['it has an endless line', 'it unpacks to far more than its size'];
    /** A line that is longer than so many bytes, and rows that are longer together. */
    const bombs = (lineBytes: number, bytes: number) => [
      [endless, [begun, 1], ['a'.repeat(lineBytes / 16), 17]] as const,
      [
        many,
        [`${begun}{"part":"blobs/${'0'.repeat(64)}"}\n`, 1],
        [`{"row":"${'A'.repeat(MB / 2)}"}\n`, (2 * bytes) / MB + 52],
      ] as const,
    ];
    for (const [fault, ...blocks] of bombs(4 * MB, 16 * MB)) {
      packMany(hostile, blocks);
      const container = await openContainer(hostile, { line: 4 * MB, bytes: 16 * MB });
      await expect(collected(container.lines())).rejects.toThrow(fault);
      await container.close();
    }
    for (const [fault, ...blocks] of sized([], bombs(256 * MB, 1024 * MB), bombs(256 * MB, 1024 * MB))) {
      packMany(hostile, blocks);
      expect(await why()).toContain(`BUNDLE_INVALID_FORMAT  is not a valid bundle: ${fault}`);
    }
    const deep = '['.repeat(200_000) + ']'.repeat(200_000);
    for (const [at, name] of [
      [0, 'head'],
      [2, 'row'],
      [lines.length - 1, 'end'],
    ] as const) {
      packMany(hostile, [[`${lines.with(at, `{"${name}":${deep}}`).join('\n')}\n`, 1]]);
      expect(await why()).toContain('BUNDLE_INVALID_FORMAT');
    }
    rmSync(hostile);
    execFileSync('mkfifo', [hostile]);
    expect(await why()).toContain('BUNDLE_INVALID_FORMAT  is not a valid bundle: it is not a file');
  });

  it('[A502] is read as it was checked, whatever becomes of its file', async () => {
    const { file, folder } = await waiting();
    const lines = await linesOf(file);
    const other = path.join(folder, 'other');
    const [moved, overwritten] = [await openContainer(file), await openContainer(file)];
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.with(bytes.length - 1, 1 ^ (bytes.at(-1) ?? 0)));
    await expect(collected(overwritten.lines())).rejects.toThrow('do not match its digest');
    await overwritten.close();
    writeFileSync(file, bytes);
    writeFileSync(other, 'something else');
    renameSync(other, file);
    expect(await collected(moved.lines())).toEqual(lines);
    await moved.close();
  });

  it('[A59] holds no secrets, and still verifies as far as it can be', async () => {
    const { file, exported: done } = await waiting(['sk-very-secret-value']);
    const text = (await linesOf(file)).join('');
    expect(text).not.toContain('sk-very-secret-value');
    expect(done.redacted).toBeGreaterThan(0);
    expect(await openBundle(file).then(opened => opened.ok && opened.value.close())).not.toBe(false);
  });

  it('[A60] of a run whose journal is damaged says so, and is only looked at', async () => {
    const { host, folder, run } = await waiting();
    await host.close();
    opened.splice(0, 1);
    const { DatabaseSync } = await import('node:sqlite');
    const database = readsBodies(new DatabaseSync(path.join(folder, 'data', 'db.sqlite')));
    database.exec(
      "update records set body = replace(body_text(body), 'task.started', 'task.startes') where place % 268435456 = 2",
    );
    database.close();
    const file = path.join(folder, 'salvaged.bundle');
    const done = await exported(folder, run, file);
    expect(done.salvage?.length).toBeGreaterThan(0);
    const looked = await openBundle(file);
    expect(looked).toMatchObject({ ok: true, value: { end: { salvage: done.salvage } } });
    if (looked.ok) looked.value.close();
    const elsewhere = temporaryFolder();
    const other = await open(elsewhere);
    expect(await importRun(into(other, elsewhere), file)).toMatchObject({
      ok: false,
      error: { code: 'BUNDLE_INTEGRITY_FAILED' },
    });
    expect((await other.store.runs()).items).toEqual([]);
  });

  it('[A61] that is none, or not there, is said to be so, and nothing is left behind', async () => {
    const folder = temporaryFolder();
    const host = await open(folder);
    const file = path.join(folder, 'none');
    const codes: string[] = [];
    for (const content of ['', 'hello', '\u001f\u008b', '{"head":{}}\n']) {
      writeFileSync(file, content);
      const imported = await importRun(into(host, folder), file);
      codes.push(imported.ok ? 'imported' : imported.error.code);
    }
    for (const name of ['missing', 'none/below', '', `a\u0000b`, 'x'.repeat(300)]) {
      const refused = await importRun(into(host, folder), path.join(folder, name));
      codes.push(refused.ok ? 'imported' : refused.error.code);
    }
    expect(codes).toEqual([...Array(4).fill('BUNDLE_INVALID_FORMAT'), ...Array(5).fill('command/usage')]);
    expect(readdirSync(path.join(folder, 'data', 'imports'))).toEqual([]);
  });
});
