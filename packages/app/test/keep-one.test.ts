import * as fs from 'node:fs';
import path from 'node:path';
import { detectSandbox } from '@signalbox/state';
import { type EchoStep, echoAgentProgram, echoPrompt } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { planText } from './support/open-host.ts';
import { openTestHome } from './support/open-scripted-home.ts';
import { until } from './support/until.ts';
import { temporaryFolder } from './temporary-folder.ts';

const sandbox = await detectSandbox();
const choose = (chosenOptionId: string) =>
  ({ resolutionType: 'choose_option', chosenOptionId, rationale: '', actionKind: 'review' }) as const;

function given() {
  const folder = temporaryFolder();
  const [data, work] = [path.join(folder, 'data'), path.join(folder, 'work')];
  fs.mkdirSync(data, { recursive: true, mode: 0o700 });
  fs.mkdirSync(work);
  const agents = { echo: { command: [process.execPath, echoAgentProgram], title: 'Echo' } };
  fs.writeFileSync(path.join(data, 'config.json'), JSON.stringify({ agents }));
  fs.writeFileSync(path.join(work, 'a.txt'), 'first\n');
  const layers = () =>
    fs.readdirSync(path.join(data, 'layers')).filter(name => isHeld(path.join(data, 'layers', name)));
  const files = () =>
    Object.fromEntries(fs.readdirSync(work).map(name => [name, fs.readFileSync(path.join(work, name), 'utf8')]));
  const open = () => openTestHome(folder, { env: {}, resumeOnAnswer: true });
  return { folder, work, layers, files, open };
}

const isHeld = (layer: string) => fs.existsSync(path.join(layer, 'held.json'));
const append = (text: string): EchoStep => ({ do: 'append', file: 'a.txt', text });
const write = (file: string): EchoStep => ({ do: 'write', file, text: `${file}\n` });
const tokens: EchoStep = { do: 'tokens', inputTokens: 10, outputTokens: 5 };

const agent = (id: string, steps: readonly EchoStep[], props = '') =>
  `<Agent id="${id}" plugin="echo" cwd="work" apply="hold" retries={0} ${props} prompt={${JSON.stringify(echoPrompt(steps))}}
     onFinished={() => ctx.state.update('over', all => [...all, '${id}'])}
     onError={() => ctx.state.update('over', all => [...all, '${id}'])} />`;
const keep = (ids: readonly string[], props = '') =>
  `<If condition={ctx.state.get('over').length === ${ids.length}}>
     <Keep id="keep" from={${JSON.stringify(ids)}} ${props} onFinished={kept => ctx.state.set('kept', kept)} />
   </If>`;
const contest = (agents: Readonly<Record<string, string>>, props = '') =>
  planText(
    Object.values(agents).join('\n') + keep(Object.keys(agents), props),
    'z.object({ over: z.array(z.string()).default([]), kept: z.any() })',
  );
const two = (check = '') =>
  contest({
    one: agent('one', [append('one'), write('one.txt'), tokens, { do: 'cost', amount: 0.02 }], check),
    two: agent('two', [append('two'), append('more')], check),
  });

describe.skipIf(!sandbox.ok)('agents that hold their changes', () => {
  it.each([
    ['one', { 'a.txt': 'first\none\n', 'one.txt': 'one.txt\n' }],
    ['two', { 'a.txt': 'first\ntwo\nmore\n' }],
    ['none', { 'a.txt': 'first\n' }],
  ])('[A800] are compared, a person keeps %s, and nothing of the others is left', async (choice, after) => {
    const { layers, files, open } = given();
    const { host, store, start, end, state } = await open();
    const run = await start('plan', two());
    expect(await end(run)).toMatchObject({ status: 'waiting' });
    expect([files(), layers().length]).toEqual([{ 'a.txt': 'first\n' }, 2]);
    const [asked, ...others] = await store.decisions({ run, status: ['open'] });
    expect([others, asked?.decision]).toMatchObject([
      [],
      {
        node: 'keep',
        kind: 'choice',
        proposal: {
          options: [{ id: 'one', label: 'Keep one (Echo)' }, { id: 'two' }, { id: 'none', label: 'Keep none' }],
          context: {
            attempts: [
              { node: 'one', agent: 'Echo', files: 2, added: 2, removed: 0, tokens: 15, costMicroUsd: 20_000 },
              { node: 'two', files: 1, added: 2, removed: 0 },
            ],
            diff: expect.stringMatching(/^# one\n.*\+one\n.*\n\n# two\n.*\+two\n\+more$/s),
          },
        },
      },
    ]);
    const shown = asked?.decision.proposal as { context: { attempts: object[] } } | undefined;
    expect(shown?.context.attempts[1]).not.toHaveProperty('tokens');
    expect(await host.answer(asked?.decision.id as never, { resolution: choose(choice) }, 'ada')).toMatchObject({
      ok: true,
    });
    await until(async () => (await store.run(run))?.status === 'completed' || undefined);
    expect([files(), layers()]).toEqual([after, []]);
    expect(await state(run)).toMatchObject({ kept: { kept: choice === 'none' ? null : choice } });
    if (choice === 'none') return;
    // What was applied can be undone like the turn of any agent.
    const calls = await host.checkpoints(run);
    const call = calls.ok ? calls.value.find(({ outcome }) => outcome === 'succeeded') : undefined;
    expect(await host.undo(run, call?.call ?? '', {}, 'ada')).toMatchObject({ ok: true });
    expect(files()).toEqual({ 'a.txt': 'first\n' });
  });

  it('[B132] whose check passed are shown to a person first if git would run some of it', async () => {
    const { work, open } = given();
    const { host, store, start, end } = await open();
    const agents = { one: agent('one', [write('.git/hooks/pre-commit')], 'check="true"') };
    const run = await start('plan', contest(agents, 'apply="check"'));
    expect(await end(run)).toMatchObject({ status: 'waiting' });
    const [asked] = await store.decisions({ run, status: ['open'] });
    expect(asked?.decision.proposal).toMatchObject({
      prompt: expect.stringContaining(
        'It changed what git runs outside of the sandbox: .git/hooks/pre-commit (a hook).',
      ),
      context: { programs: [{ path: '.git/hooks/pre-commit', says: 'a hook' }] },
    });
    const resolution = { rationale: '', actionKind: 'review', resolutionType: 'choose_option' } as const;
    const drop = { resolution: { ...resolution, chosenOptionId: 'drop' } };
    expect(await host.answer(asked?.decision.id as never, drop, 'ada')).toMatchObject({ ok: true });
    await until(async () => (await store.run(run))?.status === 'completed' || undefined);
    expect(fs.existsSync(path.join(work, '.git'))).toBe(false);
  });

  it('[A801] are checked on their own changes, and nothing that the check writes stays', async () => {
    const { layers, files, open } = given();
    const { start, end, state } = await open();
    const check = 'check={"echo ran > ran.txt; cat a.txt; grep -q two a.txt && test ! -e one.txt"}';
    const run = await start('plan', two(check).replace('<Keep ', '<Keep apply="check" '));
    expect(await end(run)).toMatchObject({ status: 'completed' });
    expect([files(), layers()]).toEqual([{ 'a.txt': 'first\ntwo\nmore\n' }, []]);
    expect(await state(run)).toMatchObject({
      kept: {
        kept: 'two',
        attempts: [
          { node: 'one', check: { passed: false, says: 'exited with 1', output: 'first\none' } },
          { node: 'two', check: { passed: true, says: 'passed', output: 'first\ntwo\nmore' } },
        ],
      },
    });
  });

  it.each([
    ['check', 'apply="check"'],
    ['never', 'apply="never"'],
  ])('[A800] are dropped where none is kept: apply="%s"', async (_, props) => {
    const { layers, files, open } = given();
    const { start, end, state } = await open();
    const run = await start('plan', two('check="false"').replace('<Keep ', `<Keep ${props} `));
    expect(await end(run)).toMatchObject({ status: 'completed' });
    expect([files(), layers()]).toEqual([{ 'a.txt': 'first\n' }, []]);
    expect(await state(run)).toMatchObject({ kept: { kept: null } });
  });

  it('[A800] wait over a restart, and those that failed or changed nothing cannot be kept', async () => {
    const { layers, files, open } = given();
    const first = await open();
    const plan = contest({
      broken: agent('broken', [append('broken'), { do: 'fail', code: -32_000, message: 'no credit' }]),
      idle: agent('idle', [{ do: 'say', text: 'Nothing to do.' }]),
      good: agent('good', [append('good')]),
    })
      .replace('<Agent id="broken"', "{ctx.state.get('over').includes('broken') ? null : <Agent id=\"broken\"")
      .replace("'broken'])} />", "'broken'])} />}");
    const run = await first.start('plan', plan);
    expect(await first.end(run)).toMatchObject({ status: 'waiting' });
    await first.close();
    expect(layers().length).toBe(1);
    const { host, store } = await open();
    expect(layers().length).toBe(1);
    const [asked] = await store.decisions({ run, status: ['open'] });
    expect(asked?.decision.proposal).toMatchObject({
      options: [{ id: 'good' }, { id: 'none' }],
      context: {
        attempts: [{ error: expect.stringContaining('no credit') }, { node: 'idle', files: 0 }, { node: 'good' }],
      },
    });
    await host.answer(asked?.decision.id as never, { resolution: choose('good') }, 'ada');
    await until(async () => (await store.run(run))?.status === 'completed' || undefined);
    expect(files()).toEqual({ 'a.txt': 'first\ngood\n' });
  });

  it('[A802] ask again if somebody else changed the same since, and only about what is kept', async () => {
    const { work, files, open } = given();
    const { host, store, start, end } = await open();
    const run = await start('plan', two());
    expect(await end(run)).toMatchObject({ status: 'waiting' });
    fs.writeFileSync(path.join(work, 'a.txt'), 'mine\n');
    const open1 = async () => (await store.decisions({ run, status: ['open'] }))[0]?.decision;
    const asked = await open1();
    await host.answer(asked?.id as never, { resolution: choose('two') }, 'ada');
    const again = await until(async () => ((await open1())?.id === asked?.id ? undefined : await open1()));
    expect(again?.proposal).toMatchObject({ prompt: expect.stringContaining('conflict'), context: { total: 1 } });
    expect(files()).toEqual({ 'a.txt': 'mine\n' });
    await host.answer(again?.id as never, { resolution: choose('drop') }, 'ada');
    await until(async () => (await store.run(run))?.status === 'completed' || undefined);
    expect(files()).toEqual({ 'a.txt': 'mine\n' });
  });

  it('[A801] one agent is applied only if its check passes, and says why not', async () => {
    const { files, layers, open } = given();
    const { start, end } = await open();
    const plan = (check: string) => agent('one', [append('one')], `check={${JSON.stringify(check)}}`);
    const alone = (check: string) =>
      planText(plan(check).replace('apply="hold"', ''), 'z.object({ over: z.array(z.string()).default([]) })');
    const refused = await start('refused', alone('grep -q missing a.txt'));
    expect(await end(refused)).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('exited with 1') },
    });
    expect(files()).toEqual({ 'a.txt': 'first\n' });
    const fine = await start('fine', alone('grep -q one a.txt'));
    expect(await end(fine)).toMatchObject({ status: 'completed' });
    expect([files(), layers()]).toEqual([{ 'a.txt': 'first\none\n' }, []]);
  });
});
