import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ApprovalId } from '@signalbox/model';
import { detectSandbox } from '@signalbox/state';
import { describe, expect, it } from 'vitest';
import { planText } from './support/open-host.ts';
import { openScriptedHome } from './support/open-scripted-home.ts';
import { until } from './support/until.ts';
import { temporaryFolder } from './temporary-folder.ts';

const sandbox = await detectSandbox();
const hasLayers = sandbox.ok && sandbox.value.name === 'bubblewrap';

/** It changes two files, says so where only we see it, and ends when it is told to. */
const SCRIPT =
  'echo command > shared; echo command > free; : > .begun; until [ -s go ]; do sleep 0.01; done; rm .begun';

/** An agent with one command. */
const opened = (folder: string, script: string) =>
  openScriptedHome(folder, ({ since }) =>
    since.some(part => part.kind === 'result')
      ? { text: JSON.stringify(since.find(part => part.kind === 'result')) }
      : { calls: [{ tool: 'run_command', input: { command: ['sh', '-c', script] } }] },
  );

const plan = planText(
  `<Agent id="agent" model="anthropic:claude-test" cwd="work" prompt="Do it." permissions="skip"
     onFinished={said => ctx.state.set('said', said)} />`,
  'z.object({ said: z.any() })',
);

/** A run whose command met a person's save, and waits. */
async function conflicted(folder: string) {
  const first = await opened(folder, SCRIPT);
  const { work } = first;
  for (const [name, text] of Object.entries({ shared: 'old', free: 'old', go: '' }))
    writeFileSync(path.join(work, name), text);
  const run = await first.start('plan', plan);
  const layers = path.join(folder, 'data', 'layers');
  await until(
    () =>
      (existsSync(layers) && readdirSync(layers).some(id => existsSync(path.join(layers, id, 'upper', '.begun')))) ||
      undefined,
  );
  writeFileSync(path.join(work, 'shared'), 'person');
  appendFileSync(path.join(work, 'go'), 'go');
  expect(await first.end(run)).toMatchObject({ status: 'waiting' });
  await first.close();
  const second = await opened(folder, SCRIPT);
  const [waiting] = await second.store.decisions({ run, status: ['open'] });
  return { run, waiting, ...second };
}

const choose = (chosenOptionId: string) =>
  ({ resolutionType: 'choose_option', chosenOptionId, rationale: '', actionKind: 'review' }) as const;
const read = (work: string) => ['shared', 'free'].map(name => readFileSync(path.join(work, name), 'utf8').trim());

describe.skipIf(!hasLayers)('a command whose changes meet those of a person', () => {
  it.each([
    ['apply-rest', ['person', 'command'], 'everything else was applied'],
    ['apply-all', ['command', 'command'], 'chose to replace'],
    ['drop', ['person', 'old'], 'chose to drop'],
  ])('[A210] [A318] waits for one decision, over a restart, and does what it says: %s', async (choice, files, told) => {
    const { run, waiting, host, end, state, work, store } = await conflicted(temporaryFolder());
    expect(waiting?.decision).toMatchObject({
      kind: 'choice',
      proposal: {
        options: [{ id: 'apply-rest' }, { id: 'apply-all' }, { id: 'drop' }],
        context: { directory: work, conflicts: [{ path: 'shared', theirs: 'created or changed' }] },
      },
    });
    expect(read(work)).toEqual(['person', 'old']);
    const outcomes = async () => {
      const listed = await host.checkpoints(run);
      return listed.ok ? listed.value.map(({ tool, outcome }) => [tool, outcome]) : listed;
    };
    expect(await outcomes()).toEqual([['run_command', 'held']]);
    const answered = await host.answer(waiting?.decision.id as ApprovalId, { resolution: choose(choice) }, 'ada');
    expect(answered).toMatchObject({ ok: true });
    await until(async () => (await store.run(run))?.status === 'completed' || undefined);
    await end(run);
    expect(read(work)).toEqual(files);
    expect(await outcomes()).toEqual([['run_command', choice === 'drop' ? 'failed' : 'succeeded']]);
    expect(JSON.stringify(await state(run))).toContain(told);
  });
});

describe.skipIf(!hasLayers)('a command that changes what git runs', () => {
  it.each([
    ['apply-all', true],
    ['drop', false],
  ])('[A850] is shown to a person first, with what would run: %s', async (choice, isApplied) => {
    const script =
      'mkdir -p .git/hooks; printf "#!/bin/sh\\nevil\\n" > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; echo b > b';
    const { work, start, end, host, store, state } = await opened(temporaryFolder(), script);
    const run = await start('plan', plan);
    expect(await end(run)).toMatchObject({ status: 'waiting' });
    expect(readdirSync(work)).toEqual([]);
    const [asked] = await store.decisions({ run, status: ['open'] });
    expect(asked?.decision).toMatchObject({
      kind: 'choice',
      proposal: {
        prompt: expect.stringMatching(
          /^The command "sh -c mkdir .*" is done\. It changed what git runs outside of the sandbox: \.git\/hooks\/pre-commit \(a hook\)\. Apply its 4 changes\?$/,
        ),
        options: [{ id: 'apply-all' }, { id: 'drop' }],
        context: {
          directory: work,
          programs: [{ path: '.git/hooks/pre-commit', says: 'a hook' }],
          diff: expect.stringContaining('+evil'),
        },
      },
    });
    const answered = await host.answer(asked?.decision.id as ApprovalId, { resolution: choose(choice) }, 'ada');
    expect(answered).toMatchObject({ ok: true });
    await until(async () => (await store.run(run))?.status === 'completed' || undefined);
    expect([existsSync(path.join(work, '.git/hooks/pre-commit')), existsSync(path.join(work, 'b'))]).toEqual([
      isApplied,
      isApplied,
    ]);
    if (!isApplied) expect(JSON.stringify(await state(run))).toContain('a person chose to drop');
  });

  it('[A850] is not asked about what is ordinary work with git', async () => {
    const script =
      'git init -q; git config user.name a; git config user.email a@b.c; echo b > b; git add .; git commit -qm b';
    const { work, start, end } = await opened(temporaryFolder(), script);
    expect(await end(await start('plan', plan))).toMatchObject({ status: 'completed' });
    expect(existsSync(path.join(work, '.git/HEAD'))).toBe(true);
  });
});
