import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Bug, type ErrorEnvelope, type Resolution, type Result, type RunId } from '@signalbox/model';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Home, openHome } from '../src/host/open-home.ts';
import { thisMachine } from '../src/machine.ts';
import { planText } from './support/open-host.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** A run of somebody else says where it worked. It works there here only if a new run could. */
const theirs = temporaryFolder();
const at = { kind: 'frame', frame: 0 } as const;
const REFUSED = { ok: false, error: { code: 'plan/place-refused' } };
const ASKS = planText('<Human id="ask" prompt="Go on?" />');
let [plain, withFiles] = ['', ''];

beforeAll(async () => {
  const home = await openIn(theirs);
  const project = path.join(theirs, 'project');
  mkdirSync(project);
  writeFileSync(path.join(project, 'private.txt'), 'private');
  plain = await bundleOf(home, 'plain', ASKS);
  withFiles = await bundleOf(home, 'with-files', ASKS.replace("name: 'test'", "name: 'test', workspace: true"));
  await home.close();

  async function bundleOf({ host }: Home, name: string, text: string): Promise<string> {
    const file = path.join(theirs, `${name}.tsx`);
    writeFileSync(file, text);
    const run = value(await host.start({ file, anyFile: true, directory: project, input: {} }));
    await host.finished(run);
    const bundle = path.join(theirs, `${name}.bundle`);
    value(await host.bundles.export(run, bundle));
    return bundle;
  }
});

async function openIn(folder: string): Promise<Home> {
  const opened = await openHome({
    dataDirectory: path.join(folder, 'data'),
    machine: thisMachine(),
    env: {},
    threads: { threads: 1 },
    planRoots: [path.join(folder, 'root')],
    resumeOnAnswer: true,
  });
  return value(opened);
}

/** A data directory here with a trusted run of a bundle. */
async function imported(bundle: string) {
  const folder = temporaryFolder();
  mkdirSync(path.join(folder, 'root'));
  const home = await openIn(folder);
  onTestFinished(() => home.close());
  const { host, owned } = home;
  const { run } = value(await host.bundles.import({ file: bundle, anyFile: true, trust: true }, 'ada'));
  return { folder, host, run, store: owned.store };
}

function value<T>(result: Result<T, ErrorEnvelope>): T {
  if (!result.ok) throw new Bug(`${result.error.code}: ${result.error.message}`);
  return result.value;
}

describe('the directory of an imported run', () => {
  it('[A420] is checked for each of its forks, and each fork of those, as for a new run', async () => {
    const { host, run, folder, store } = await imported(plain);
    expect(await host.fork(run, { at }, 'ada')).toMatchObject(REFUSED);
    expect(await host.fork(run, { at, paused: true }, 'ada')).toMatchObject(REFUSED);
    expect((await store.runs({})).items).toHaveLength(1);

    const fork = value(await host.fork(run, { at, paused: true, anyFile: true }, 'ada'));
    expect(await host.resume(fork, { by: 'ada' })).toMatchObject(REFUSED);
    expect(await host.resume(fork)).toMatchObject(REFUSED);
    expect(await host.fork(fork, { at, paused: true }, 'ada')).toMatchObject(REFUSED);

    // One that was named here is somebody's word here.
    const directory = path.join(folder, 'root', 'work');
    const own = value(await host.fork(run, { at, directory }, 'ada'));
    await host.finished(own);
    const next = value(await host.fork(own, { at }, 'ada'));
    await host.finished(next);
    expect((await store.run(next))?.workingDirectory).toBe(directory);
    value(await host.resume(next, { by: 'ada' }));
    await host.finished(next);

    // So is that of the person at the command line.
    const anywhere = value(await host.fork(run, { at, anyFile: true }, 'ada'));
    await host.finished(anywhere);
    expect((await store.run(anywhere))?.owner).toBeDefined();
  });

  it('[A420] is checked before an answer or a retry takes the run up for the first time', async () => {
    const { host, run, store } = await imported(plain);
    expect(await host.act(run, { kind: 'cancel', node: 'ask' }, 'ada')).toMatchObject({ ok: false });
    const [asked] = await store.decisions({ run, status: ['open'] });
    if (asked === undefined) throw new Bug('nothing is asked');
    const resolution = { resolutionType: 'approve', rationale: '', actionKind: 'review' } as Resolution;
    await host.answer(asked.decision.id, { resolution }, 'ada');
    expect([host.driven(), (await store.run(run))?.owner]).toEqual([[], undefined]);
    // Once it was allowed here it goes on by itself.
    value(await host.resume(run, { by: 'ada', anyFile: true }));
    await host.finished(run);
    expect(await store.run(run)).toMatchObject({ status: 'completed' });
  });

  it('[A420] is not copied into a fork before it was checked, and nothing of a workspace made elsewhere is removed', async () => {
    const { host, run, folder, store } = await imported(withFiles);
    const workspace = (await store.run(run))?.workspace;
    if (workspace === undefined) throw new Bug('it has no workspace');
    expect(existsSync(path.join(workspace.path, 'private.txt'))).toBe(true);
    expect(await host.fork(run, { at, paused: true }, 'ada')).toMatchObject(REFUSED);
    expect(
      existsSync(path.join(folder, 'data-workspaces')) && readdirSync(path.join(folder, 'data-workspaces')),
    ).toEqual(false);
    const copy = value(await host.fork(run, { at, paused: true, anyFile: true }, 'ada'));
    expect(existsSync(path.join(folder, 'data-workspaces', copy, 'private.txt'))).toBe(true);
  });

  it('[A420] is that of its plan if it has no other', async () => {
    const { host, run, store } = await imported(plain);
    const record = await store.run(run);
    if (record?.source === undefined) throw new Bug('it has no plan');
    const { inheritedPlace } = await import('../src/host/inherited-place.ts');
    const checked: string[] = [];
    const { workingDirectory: _, ...bare } = record;
    await inheritedPlace(host.reader, bare, directory => {
      checked.push(directory);
      return { ok: true, value: directory };
    });
    expect(checked).toEqual([record.source.root]);
  });
});

describe('a fork', () => {
  it('[A421] gets no directory in the data directory, whoever names it', async () => {
    const { host, run, folder, store } = await imported(plain);
    const directory = path.join(folder, 'data', 'keys', 'empty');
    expect(await host.fork(run, { at, directory, anyFile: true, anyDirectory: true }, 'ada')).toMatchObject(REFUSED);
    expect(existsSync(directory)).toBe(false);
    const none: RunId[] = (await store.runs({})).items.map(({ id }) => id).filter(id => id !== run);
    expect(none).toEqual([]);
  });
});
