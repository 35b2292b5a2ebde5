import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ModelScript } from '@signalbox/testkit';
import { describe, expect, it, onTestFinished } from 'vitest';
import { artifactContent } from '../src/artifacts/read-artifact.ts';
import { runDiff } from '../src/workspaces/run-diff.ts';
import { gitRepository, pictureOf } from './support/git-repository.ts';
import { openTestHost, planText } from './support/open-host.ts';
import { openScriptedHome } from './support/open-scripted-home.ts';
import { until } from './support/until.ts';
import { temporaryFolder } from './temporary-folder.ts';

const open = (folder: string, script: ModelScript = []) => openScriptedHome(folder, script, false);

const inWorkspace = (text: string) => text.replace("name: 'test',", "name: 'test', workspace: true,");

describe('a plan that asks for a workspace', () => {
  it('[A83] has its agents and tasks work there, shows what they made, and leaves the repository alone', async () => {
    const folder = temporaryFolder();
    const repository = gitRepository(path.join(folder, 'repo'), { 'a.txt': 'one\n', 'chart.svg': '<svg/>' });
    const before = pictureOf(repository);
    const { server, store, start, end, state } = await open(folder, ({ since }) => {
      if (since.some(part => part.kind === 'result')) return { text: JSON.stringify(since) };
      return {
        calls: [
          { tool: 'edit_file', input: { path: 'a.txt', find: 'one', replaceWith: 'two' } },
          { tool: 'artifact', input: { kind: 'table', name: 'Cost', key: 'cost', columns: ['a'], rows: [{ a: 1 }] } },
          { tool: 'artifact', input: { kind: 'image', name: 'Chart', path: 'chart.svg', alt: 'a chart' } },
          { tool: 'artifact', input: { kind: 'progress', name: 'No total', current: 1 } },
          { tool: 'artifact', input: { kind: 'image', name: 'Out', path: '../../../etc/hosts' } },
        ],
      };
    });
    const run = await start(
      'plan',
      inWorkspace(
        planText(
          `<Phase name="edit"><Agent id="agent" model="anthropic:claude-test" prompt="Do it." maxTurns={6}
             onFinished={said => ctx.state.set('said', said)} /></Phase>
           <Phase name="check"><Task id="task" run={({ fs, workspace }) => [fs.read('a.txt'), workspace.vcs, fs.exists('own.txt')]}
             onFinished={found => ctx.state.set('found', found)} /></Phase>`,
          'z.object({ said: z.any(), found: z.any() })',
        ),
      ),
      { directory: repository },
    );
    expect(await end(run)).toMatchObject({ status: 'completed' });
    const { said, found } = await state(run);
    expect(found).toEqual(['two\n', 'git', false]);
    expect(pictureOf(repository)).toEqual(before);
    const artifacts = await store.artifacts(run);
    expect(
      artifacts.map(({ kind, name, key, version, node, mimeType }) => [kind, name, key, version, node, mimeType]),
    ).toEqual([
      ['table', 'Cost', 'cost', 1, 'agent', 'application/json'],
      ['image', 'Chart', undefined, undefined, 'agent', 'image/svg+xml'],
      ['diff', 'diff.patch', undefined, undefined, 'agent', 'text/x-diff'],
    ]);
    for (const { id } of artifacts.slice(0, 2)) expect(said).toContain(`artifact://${id}`);
    expect(said).toContain('A progress needs current and total.');
    expect(artifacts[2]).toMatchObject({
      diff: { filesChanged: ['a.txt'], summary: '1 file changed' },
      content: expect.stringContaining('-one\n+two\n'),
    });
    expect(server.requests).toHaveLength(2);
    const chart = await artifactContent(store, artifacts[1] as never);
    expect(chart.ok && Buffer.from(chart.value).toString()).toBe('<svg/>');
    const record = (await store.run(run)) as never;
    const diff = await runDiff({ reader: store, blobs: store }, record);
    expect(diff).toMatchObject({ ok: true, value: { files: [{ path: 'a.txt', change: 'changed' }] } });
  });

  it('[A83] is refused where there are none, and leaves no run', async () => {
    const folder = temporaryFolder();
    const { host, store, close } = await openTestHost(folder, { threads: { threads: 1 } });
    onTestFinished(close);
    const file = path.join(folder, 'plan.tsx');
    writeFileSync(file, inWorkspace(planText('<Task id="t" run={() => 1} />')));
    expect(await host.start({ file, anyFile: true, input: {} })).toMatchObject({ error: { code: 'workspace/none' } });
    expect((await store.runs()).items).toEqual([]);
  });

  it('[A83] whose input does not fit leaves no workspace', async () => {
    const folder = temporaryFolder();
    const { host } = await open(folder);
    const file = path.join(folder, 'plan.tsx');
    writeFileSync(file, inWorkspace(planText('').replace('z.any()', 'z.object({ n: z.number() })')));
    expect((await host.start({ file, anyFile: true, input: {} })).ok).toBe(false);
    expect(existsSync(path.join(folder, 'data-workspaces'))).toBe(false);
  });
});

describe('the files of a plan', () => {
  it('[A84] are watched: a change on disk is rendered', async () => {
    const folder = temporaryFolder();
    const work = path.join(folder, 'work');
    mkdirSync(work);
    const { store, start, end, state } = await open(folder);
    const run = await start(
      'plan',
      planText(
        `{ctx.fs.read('go.txt') === undefined
           ? <Task id="wait" run={({ signal }) => new Promise(done => signal.addEventListener('abort', () => done('left')))} />
           : <Task id="went" run={() => 1} onFinished={() => { ctx.state.set('seen', ctx.fs.read('go.txt')); ctx.fs.write('done.txt', 'yes'); }} />}`,
        'z.object({ seen: z.any() })',
      ),
      { directory: work },
    );
    // It has looked, and found nothing.
    await until(async () => (await store.tasks(run))[0]);
    writeFileSync(path.join(work, 'go.txt'), 'now');
    expect(await end(run)).toMatchObject({ status: 'completed' });
    expect([await state(run), readFileSync(path.join(work, 'done.txt'), 'utf8')]).toEqual([{ seen: 'now' }, 'yes']);
    const frames = await store.frames(run, 0, 10);
    expect(frames.map(({ trigger, verifiable }) => [trigger.kind, verifiable])).toContainEqual(['file', true]);
  });
});
