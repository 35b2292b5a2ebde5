import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { loadPlan } from '../../../plan/src/index.ts';
import { inTurn, testPlan } from '../../src/testing.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'test-plan-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let plans = 0;

/** The file of a plan. */
function plan(body: string, { state = '{}', before = '', more = '' } = {}): string {
  const file = path.join(folder, `plan-${plans++}.tsx`);
  const text = `import { Agent, definePlan, Effect, Human, Parallel, Phase, Retryable, Step, SubPlan, Task, Terminal, Timer } from 'signalbox';
import * as z from 'zod';
${before}
export default definePlan({ name: 'test', state: z.object(${state}), ${more} render: ctx => (<>${body}</>) });
`;
  writeFileSync(file, text);
  return file;
}

const example = (name: string) => new URL(`../../../../examples/${name}/plan.tsx`, import.meta.url);

it('[X131] runs the examples of the repository, from start to end', async () => {
  const hello = await testPlan(example('02-hello'));
  expect(await hello.end()).toMatchObject({ status: 'completed' });
  const review = await testPlan(example('03-review'), { people: { review: inOptions('revise', 'publish') } });
  expect(await review.end()).toMatchObject({ status: 'completed', output: { verdict: 'publish' } });
  expect(review.questions).toEqual([]);
  const research = await testPlan(example('04-research'), {
    agents: { 'ask: *': ({ prompt }) => ({ answer: prompt, confidence: 0.5 }), report: 'Three answers.' },
  });
  expect(await research.end()).toMatchObject({ status: 'completed', output: { report: 'Three answers.' } });
  expect(research.turns.map(({ node }) => node).sort()).toEqual(
    [
      'ask: Who wrote the first compiler?',
      'ask: What is a signal box?',
      'ask: Why do logs chain hashes?',
      'report',
    ].sort(),
  );
  const compare = await testPlan(example('06-fork-and-compare'));
  expect(await compare.end()).toMatchObject({ status: 'completed' });
});

it('[X131] lets a script repair real files, and a person keep them', async () => {
  const project = fileURLToPath(new URL('../../../../examples/05-fix-tests/project/', import.meta.url));
  const names = ['package.json', 'slug.js', 'slug.test.js'];
  const files = Object.fromEntries(names.map(name => [name, readFileSync(path.join(project, name), 'utf8')]));
  const there = mkdtempSync(path.join(folder, 'project-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(there, name), text);
  const run = await testPlan(example('05-fix-tests'), {
    input: { project: there },
    agents: {
      repair({ directory }) {
        const file = path.join(directory, 'slug.js');
        writeFileSync(
          file,
          readFileSync(file, 'utf8').replace("replace(' ', '-')", "replace(/[^a-z0-9]+/g, '-').replace(/-$/, '')"),
        );
        return 'Done.';
      },
    },
  });
  expect(await run.end()).toEqual({ status: 'waiting' });
  expect([run.state.passed, run.turns.length]).toEqual([true, 1]);
  await run.answer('review', 'approve');
  expect(await run.end()).toMatchObject({ status: 'completed', output: { approved: true } });
});

function inOptions(...options: readonly string[]) {
  let asked = 0;
  return () => ({ option: options[asked++] ?? '' });
}

it('[X232] scripts call the tools of the plan, which run or answer as the test says', async () => {
  const tools = `import { tool } from 'signalbox';
const note = tool({ name: 'note', description: 'Notes.', input: z.object({ text: z.string() }), output: z.number(), effects: 'files',
  run: async ({ text }, { files }) => { await files.write('notes/a.txt', text); if (text === '') throw new Error('nothing to note'); return text.length; } });
const order = tool({ name: 'order', description: 'Orders.', input: z.object({ what: z.string() }), run: () => fetch('http://127.0.0.1:1') });`;
  const file = plan(
    `<Agent id="work" model="m" prompt="Do it." retries={0} tools={[note, order, 'read_file']} mcp={[{ url: 'https://x.test', prefix: 'x', allow: ['find'] }]}
       onFinished={said => ctx.state.set('said', said)} />`,
    { before: tools, state: '{ said: z.any() }' },
  );
  const said: unknown[] = [];
  await using run = await testPlan(file, {
    files: { 'before.txt': '' },
    tools: { order: ({ what }: { readonly what: string }) => `no ${what}`, x_find: { hits: 2 }, write_file: 'written' },
    agents: {
      async work({ call, directory }) {
        said.push(await call('note', { text: 'mine' }), readFileSync(path.join(directory, 'notes/a.txt'), 'utf8'));
        said.push(await call('order', { what: 'tea' }), await call('x_find'));
        for (const [name, input] of [
          ['note', {}],
          ['note', { text: '' }],
          ['read_file', {}],
          ['write_file', {}],
        ] as const)
          said.push(await call(name, input).catch(error => error.message));
        return readFileSync(path.join(directory, 'notes/a.txt'), 'utf8');
      },
    },
  });
  expect(await run.end()).toMatchObject({ status: 'completed', output: { said: 'mine' } });
  expect(said).toEqual([
    ...[4, 'mine', 'no tea', { hits: 2 }],
    expect.stringMatching(/text/),
    expect.stringMatching(/^Error: nothing to note at plan-\d+\.tsx:\d+/),
    expect.stringMatching(/does not say what "read_file" answers/),
    expect.stringMatching(/not given the tool "write_file".*note, order, read_file/),
  ]);
  expect(run.calls.map(({ tool, error }) => `${tool} ${error === undefined}`)).toEqual([
    ...['note true', 'order true', 'x_find true'],
    ...['note false', 'note false', 'read_file false', 'write_file false'],
  ]);
});

it('[X131] time moves only when the test moves it, and retries and timers follow it', async () => {
  const run = await testPlan(
    plan(
      `<Phase name="one"><Timer id="nap" forMs={3600000} /></Phase><Phase name="two"><Agent model="any:model" id="ask" prompt="?" retry={{ attempts: 3, backoff: '60s' }} /></Phase>`,
    ),
    {
      agents: {
        ask: inTurn(() => {
          throw new Error('busy');
        }, 'well'),
      },
    },
  );
  const began = run.now.getTime();
  await run.settled();
  expect([run.node('nap').status, run.turns.length]).toEqual(['blocked', 0]);
  await run.advance('59m');
  expect(run.node('nap').status).toBe('blocked');
  await run.advance('1m');
  expect([run.node('nap').status, run.turns.length]).toEqual(['succeeded', 1]);
  expect(await run.end()).toMatchObject({ status: 'completed' });
  expect(run.turns.map(({ attempt }) => attempt)).toEqual([1, 2]);
  expect(run.now.getTime() - began).toBeGreaterThan(3_600_000);
});

it('[X131] the test ends the work of an agent without a script, and frames are awaited', async () => {
  const run = await testPlan(
    plan(
      `<Agent model="any:model" id="write" prompt={\`Write \${ctx.state.get('tries')}\`} onFinished={text => ctx.state.set('text', text)} onFailed={() => ctx.state.update('tries', tries => tries + 1)} allowFailure />`,
      {
        state: '{ text: z.string().optional(), tries: z.number().default(0) }',
      },
    ),
  );
  await run.until(view => view.node('write').status === 'running');
  expect(run.turns[0]?.prompt).toBe('Write 0');
  const { frame } = run;
  await Promise.all([run.nextFrame(), run.finish('write', 'text')]);
  expect([run.frame > frame, run.state.text]).toEqual([true, 'text']);
  const earlier = await run.at(1);
  expect([earlier.frame, earlier.node('write').kind]).toEqual([1, 'agent']);
  expect(await run.end()).toMatchObject({ status: 'completed', output: { text: 'text', tries: 0 } });
  await expect(run.finish('write', 'more')).rejects.toThrow('No agent "write" waits for the test');
  const failing = await testPlan(plan(`<Agent model="any:model" id="write" prompt="?" retry={{ attempts: 1 }} />`));
  await failing.fail('write', 'no model');
  expect(await failing.end()).toMatchObject({
    status: 'failed',
    error: { message: expect.stringContaining('no model') },
  });
});

it('[X132] a crash loses what was not committed, and what was committed is not repeated', async () => {
  const ran = path.join(folder, 'ran.txt');
  const file = plan(
    `<Phase name="a"><Task id="first" run={() => appendFileSync(${JSON.stringify(ran)}, 'first ')} /></Phase><Phase name="b"><Agent model="any:model" id="second" prompt="?" onFinished={text => ctx.state.set('said', text)} /></Phase>`,
    { before: `import { appendFileSync } from 'node:fs';`, state: '{ said: z.string().optional() }' },
  );
  const run = await testPlan(file);
  await run.settled();
  const [turn] = run.turns;
  await run.crashAndResume();
  expect(turn?.signal.aborted).toBe(true);
  expect(run.turns.map(({ node }) => node)).toEqual(['second', 'second']);
  await run.crashAndResume();
  await run.finish('second', 'late');
  expect(await run.end()).toMatchObject({ status: 'completed', output: { said: 'late' } });
  expect(readFileSync(ran, 'utf8')).toBe('first ');
});

it('[X132] resumes with a corrected plan', async () => {
  const planOf = async (prompt: string) => {
    const loaded = await loadPlan(plan(`<Agent model="any:model" id="ask" prompt="${prompt}" />`));
    if (!loaded.ok) throw new Error(loaded.error.message);
    return loaded.value.plan;
  };
  const run = await testPlan(await planOf('Wrong?'));
  await run.crashAndResume(await planOf('Right?'));
  await run.finish('ask', 'Yes.');
  expect([await run.end(), run.turns.map(({ prompt }) => prompt)]).toMatchObject([
    { status: 'completed' },
    ['Wrong?', 'Right?'],
  ]);
});

it('[X131] signals, stops and limits act as in a real run', async () => {
  const heard = await testPlan(
    plan(`{ctx.state.get('heard') ? null : <Human id="wait" prompt="?" />}`, {
      state: '{ heard: z.string().optional() }',
      more: `signals: { news: { schema: z.string(), handle: (text, c) => c.state.set('heard', text) } },`,
    }),
  );
  await expect(heard.signal('other')).rejects.toThrow(/other/);
  await heard.signal('news', 'it rains');
  await heard.resume();
  expect(await heard.end()).toMatchObject({ status: 'completed', output: { heard: 'it rains' } });
  const stopped = await testPlan(plan(`<Agent model="any:model" id="write" prompt="?" />`));
  await stopped.stop('enough');
  expect(await stopped.end()).toEqual({ status: 'stopped', reason: 'enough' });
  const spending = await testPlan(
    plan(
      `<Phase name="a"><Agent model="any:model" id="one" prompt="?" /></Phase><Phase name="b"><Agent model="any:model" id="two" prompt="?" /></Phase>`,
    ),
    {
      limits: { maxCostUsd: 0.5 },
      agents: {
        '*': async turn => {
          await turn.spend({ costUsd: 0.8, inputTokens: 10 });
          return 'done';
        },
      },
    },
  );
  expect(await spending.end()).toEqual({ status: 'waiting' });
  expect(spending.questions[0]?.prompt).toContain('Raise the limit');
  await spending.answer(spending.questions[0]?.node ?? '', 'approve');
  expect(await spending.end()).toMatchObject({ status: 'completed' });
});

it('[X133] what hangs, is unknown or does not fit is an error that shows the run', async () => {
  const hanging = await testPlan(plan(`<Task id="for-ever" run={() => new Promise(() => {})} />`), { patienceMs: 50 });
  await expect(hanging.settled()).rejects.toThrow('task "for-ever" is running');
  await hanging.close();
  const held = await testPlan(plan(`<Agent model="any:model" id="write" prompt="?" />`));
  await expect(held.end()).rejects.toThrow('agent "write" has no script');
  await expect(held.answer('write', 'approve')).rejects.toThrow('"write" asks nothing');
  expect(() => held.node('writ')).toThrow('There is no node "writ"');
  await expect(testPlan(path.join(folder, 'none.tsx'))).rejects.toThrow('there is no file');
  await expect(testPlan(example('04-research'), { input: { questions: 1 } as never })).rejects.toThrow('questions');
  const misfit = await testPlan(example('04-research'), { agents: { '*': 'no object' } });
  expect(await misfit.end()).toMatchObject({
    status: 'failed',
    error: { message: expect.stringContaining('does not fit its schema') },
  });
});
