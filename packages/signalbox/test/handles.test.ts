import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { main } from '../src/main.ts';
import { memoryTerminal } from './memory-terminal.ts';
import { entry, ownEnvironment, signalbox, temporaryFolder } from './program.ts';

const HEAD = `import { Agent, definePlan, Human, Phase, Task } from 'signalbox';\nimport * as z from 'zod';\n`;

/** A folder with a plan, and a data directory in it. */
function place(body: string, state = '') {
  const cwd = temporaryFolder();
  const write = (text: string) =>
    writeFileSync(
      path.join(cwd, 'plan.tsx'),
      `${HEAD}export default definePlan({ name: 'test', state: z.object({ ${state} }), render: ctx => (<>${text}</>) });`,
    );
  write(body);
  const data = ['--data-dir', path.join(cwd, 'data')];
  const call = (...args: readonly string[]) => signalbox([...args, ...data], { cwd });
  const json = (...args: readonly string[]) => {
    const { stdout } = call(...args, '--json');
    return stdout
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line));
  };
  return { cwd, data, call, json };
}

it('[X111] a retry that fails again says so, and one that succeeds is done', () => {
  const { cwd, call } = place(
    `<Task id="work" retry={{ attempts: 1 }} run={async () => { const { existsSync } = await import('node:fs'); if (!existsSync('${'mended'}')) throw new Error('not mended'); }} />`,
  );
  expect(call('run', 'plan.tsx')).toMatchObject({ status: 1 });
  expect(call('retry', '@last', 'work')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('work failed again: Error: not mended'),
  });
  writeFileSync(path.join(cwd, 'mended'), '');
  expect(call('retry', '@last', 'work')).toMatchObject({ status: 0, stderr: '' });
});

it('[X110] [X112] approve asks in a terminal which question is meant, and resume takes the newest run', async () => {
  const { data, call } = place(`<Human id="ok" prompt="Ship it?" />`);
  expect(call('run', 'plan.tsx')).toMatchObject({ status: 3 });
  expect(call('approve')).toMatchObject({ status: 2, stderr: expect.stringContaining('Which decision?') });
  const answers = ['n', 'what', 'y'];
  const attended = () => ({ ...memoryTerminal(), ask: async () => answers.shift() });
  expect(await main(['approve', ...data], attended())).toBe(2);
  const asked = attended();
  expect(await main(['approve', ...data], asked)).toBe(0);
  expect([answers, asked.printed.join('\n')]).toEqual([[], expect.stringContaining('[1]')]);
  expect(call('resume')).toMatchObject({ status: 0, stdout: expect.stringContaining('completed') });
  expect(call('approve')).toMatchObject({ status: 2 });
});

it('[X230] a rerun changes the input of its node, or of its run, and nothing where there is none', () => {
  const { call, json } = place(
    `<Phase name="a"><Task id="first" run={() => 1} /></Phase><Phase name="b"><Task id="second" input={{ word: 'a', times: 2 }} run={({ input }) => input.word.repeat(input.times)} onFinished={n => ctx.state.set('seen', n)} /></Phase>`,
    'seen: z.string().optional()',
  );
  expect(call('run', 'plan.tsx')).toMatchObject({ status: 0 });
  expect(call('rerun', '@last', 'second', '--input', '{"word": "b"}')).toMatchObject({
    status: 4,
    stdout: '',
    stderr: expect.stringContaining('- {"word":"a","times":2}\n+ {"word":"b","times":2}'),
  });
  expect(call('rerun', '@last', 'second', '--input', 'b')).toMatchObject({ status: 2 });
  const none = call('rerun', '@last', 'first', '--input', '1', '--yes');
  expect(none).toMatchObject({ status: 1, stderr: expect.stringContaining('--run-input') });
  expect(call('rerun', '@last', 'second', '--input', '{"word": "b"}', '--yes')).toMatchObject({ status: 0 });
  expect(json('state', '@last')).toEqual([{ seen: 'bb' }]);
  expect(call('rerun', '@last', 'second', '--run-input', '{"x": 1}', '--yes')).toMatchObject({ status: 0 });
  expect(json('state', '@last')).toEqual([{ seen: 'bb' }]);
  expect(json('ls').map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
  expect(call('replay', '@last', '--verify')).toMatchObject({ status: 0 });
});

it('[X113] a rerun with other state starts from it, and one that the plan refuses starts nothing', () => {
  const { call, json } = place(
    `<Phase name="a"><Task id="first" run={() => 1} onFinished={() => ctx.state.set('tries', 1)} /></Phase><Phase name="b"><Task id="second" run={() => ctx.state.get('tries')} onFinished={n => ctx.state.set('seen', n)} /></Phase>`,
    'tries: z.number().default(0), seen: z.number().optional()',
  );
  expect(call('run', 'plan.tsx')).toMatchObject({ status: 0 });
  expect(call('rerun', '@last', 'second', '--with-state', '{"tries": 5}')).toMatchObject({ status: 4, stdout: '' });
  expect(call('rerun', '@last', 'second', '--with-state', '[5]')).toMatchObject({ status: 2 });
  expect(call('rerun', '@last', 'second', '--with-state', '{"tries": 5}', '--yes')).toMatchObject({ status: 0 });
  expect(json('state', '@last')).toEqual([{ tries: 5, seen: 5 }]);
  const refused = call('rerun', '@last', 'second', '--with-state', '{"tries": "many"}', '--yes');
  expect(refused.status).not.toBe(0);
  expect(json('ls').map(({ status }) => status)).toEqual(['stopped', 'completed', 'completed']);
});

it('[X109] logs print what an agent said between the events around it', () => {
  const { cwd, call } = place(
    `<Phase name="a"><Agent id="writer" model="scripted:answers.json" maxTurns={2} prompt="?" /></Phase><Phase name="b"><Task id="after" run={() => 1} /></Phase>`,
  );
  writeFileSync(
    path.join(cwd, 'answers.json'),
    JSON.stringify({ version: 1, rules: [{ when: { promptMatches: '.' }, text: 'What the agent said.' }] }),
  );
  expect(call('run', 'plan.tsx')).toMatchObject({ status: 0, stderr: '' });
  const lines = call('logs').stdout.split('\n');
  const at = (pattern: RegExp) => lines.findIndex(line => pattern.test(line));
  const [said, after] = [at(/What the agent said\./), at(/task\.started after/)];
  expect([said > at(/task\.started writer/), said < after]).toEqual([true, true]);
});

it('[X108] a watched list in a pipe prints a line for each change, until a signal ends it', async () => {
  const { cwd, data, call } = place(`<Human id="ok" prompt="Ship it?" />`);
  expect(call('run', 'plan.tsx')).toMatchObject({ status: 3 });
  const child = spawn(process.execPath, [entry, 'ls', '--watch', ...data], {
    cwd,
    env: ownEnvironment(cwd),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = new Promise(resolve => child.once('close', resolve));
  let told = '';
  let wake = () => {};
  child.stdout.setEncoding('utf8').on('data', text => {
    told += text;
    wake();
  });
  const until = async (pattern: RegExp) => {
    while (!pattern.test(told))
      await new Promise<void>(resolve => {
        wake = resolve;
      });
  };
  await until(/waiting {2}.*test/);
  expect(call('run', 'plan.tsx')).toMatchObject({ status: 3 });
  await until(/waiting[\s\S]*waiting/);
  child.kill('SIGTERM');
  expect(await closed).toBe(143);
});
