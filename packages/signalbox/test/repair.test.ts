import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { signalbox, temporaryFolder } from './program.ts';

const place = temporaryFolder();
const plan = (bug: string) => `
import { definePlan, Human, Phase, Task } from 'signalbox';
import * as z from 'zod';

export default definePlan({
  name: 'release',
  state: z.object({ built: z.string().optional(), by: z.string().optional() }),
  signals: { deployed: { schema: z.object({ by: z.string() }), handle: ({ by }, ctx) => ctx.state.set('by', by) } },
  render: ctx => {
    if (ctx.state.get('built') === '${bug}') throw new Error('a bug in the plan');
    return (
      <>
        <Phase name="build"><Task id="build" run={() => 'it'} onFinished={text => ctx.state.set('built', String(text))} /></Phase>
        <Phase name="ask"><Human id="ask" prompt="Ship it?" /></Phase>
      </>
    );
  },
});
`;
const lines = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line));
const run = (...args: readonly string[]) => signalbox(args, { cwd: place });

const handling = (bug: string) => `
import { appendFileSync } from 'node:fs';
import { definePlan, Task } from 'signalbox';
import * as z from 'zod';

export default definePlan({
  name: 'handled',
  state: z.object({ n: z.number().default(0) }),
  render: ctx => (
    <Task id="work" run={() => { appendFileSync('done', 'x'); return 7; }} onFinished={n => {
      ctx.state.set('n', Number(n));
      ${bug}
    }} />
  ),
});
`;

describe('a plan whose handler throws', () => {
  it('[A321] [P240] goes on with the recorded result once it is corrected, and does no work again', () => {
    const file = path.join(place, 'handled.tsx');
    writeFileSync(file, handling("throw new Error('a bug in the handler');"));
    const failed = run('run', 'handled.tsx');
    expect(failed).toMatchObject({ status: 1, stdout: expect.stringContaining('--use-current') });
    const [{ id }] = lines(run('ls', '--json').stdout);
    expect(run('resume', id)).toMatchObject({ status: 1, stdout: expect.stringContaining('a bug in the handler') });
    expect(run('why', id).stdout).toContain(`signalbox resume ${id} --use-current`);
    writeFileSync(file, handling(''));
    expect(run('resume', id, '--use-current')).toMatchObject({ status: 0, stdout: expect.stringContaining('"n":7') });
    expect(readFileSync(path.join(place, 'done'), 'utf8')).toBe('x');
    expect(run('replay', id, '--verify')).toMatchObject({ status: 0 });
  });
});

const working = (bug: string, effects: string) => `
import { appendFileSync } from 'node:fs';
import { definePlan, Phase, Task } from 'signalbox';

export default definePlan({
  name: 'working',
  render: () => (
    <>
      <Phase name="first"><Task id="first" run={() => appendFileSync('steps', 'a')} /></Phase>
      <Phase name="second"><Task id="second" effects="${effects}" retries={0} run={() => { appendFileSync('steps', 'b'); ${bug} }} /></Phase>
    </>
  ),
});
`;

describe('a plan whose task throws', () => {
  it('[A770] [A771] [X62] continues once it is corrected; a task with effects outside waits for a retry', () => {
    const [file, steps] = [path.join(place, 'working.tsx'), path.join(place, 'steps')];
    for (const effects of ['none', 'external']) {
      rmSync(steps, { force: true });
      writeFileSync(file, working("throw new Error('a bug in the task');", effects));
      const failed = run('run', 'working.tsx');
      const [{ id }] = lines(run('ls', '--json').stdout);
      const mend = `signalbox resume ${id} --use-current`;
      const how = effects === 'none' ? 'instead' : 'first';
      expect(failed).toMatchObject({
        status: 1,
        stdout: expect.stringContaining(`corrected the plan, ${how}: ${mend}`),
      });
      expect(run('why', id).stdout.includes(mend)).toBe(effects === 'none');
      // Without a corrected plan there is nothing to repeat.
      expect(run('resume', id)).toMatchObject({ status: 1 });
      expect(run('resume', id, '--use-current')).toMatchObject({ status: 1 });
      expect(readFileSync(steps, 'utf8')).toBe('ab');
      writeFileSync(file, working('', effects));
      const resumed = run('resume', id, '--use-current');
      if (effects === 'external') {
        expect(resumed).toMatchObject({ status: 1, stdout: expect.stringContaining(`signalbox retry ${id} second`) });
        expect(readFileSync(steps, 'utf8')).toBe('ab');
        expect(run('retry', id, 'second')).toMatchObject({ status: 0 });
      } else expect(resumed).toMatchObject({ status: 0 });
      expect(readFileSync(steps, 'utf8')).toBe('abb');
      expect(run('replay', id, '--verify')).toMatchObject({ status: 0 });
    }
  });
});

describe('a plan with a bug', () => {
  it('[A161] [A162] [A165] is corrected, and its run goes on', () => {
    writeFileSync(path.join(place, 'plan.tsx'), plan('it'));
    const failed = run('run', 'plan.tsx');
    expect(failed).toMatchObject({ status: 1, stdout: expect.stringContaining('--use-current') });
    const [{ id }] = lines(run('ls', '--json').stdout);
    const tree = run('show', id).stdout;
    expect(tree).toContain('✗ plan');
    expect(run('why', id).stdout).toContain('Its plan failed, not a node');
    expect(tree).toContain('✓ task build succeeded');
    expect(tree).not.toContain('running');
    expect(run('cancel', id, 'build')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('it has succeeded'),
    });

    writeFileSync(path.join(place, 'plan.tsx'), plan('something else'));
    const resumed = run('resume', id, '--use-current');
    expect(resumed).toMatchObject({ status: 3, stdout: expect.stringContaining('plan version 2') });
    expect(resumed.stdout).not.toContain('task build');
    expect(lines(run('frames', id, '--json').stdout).map(({ planVersion }) => planVersion)).toEqual([1, 2, 2]);
    expect(lines(run('show', id, '--json').stdout)).toMatchObject([{ planVersion: 2 }]);
    expect(lines(run('show', id, '--json', '--frame', '0').stdout)).toMatchObject([{ planVersion: 1 }]);
    expect(run('replay', id, '--verify')).toMatchObject({ status: 0 });

    expect(run('signal', id, 'deploid')).toMatchObject({ status: 4, stderr: expect.stringContaining('deployed') });
    expect(run('signal', id, 'deployed', '{"by": 3}')).toMatchObject({
      status: 4,
      stderr: expect.stringContaining('payload.by'),
    });
    expect(run('signal', id, 'deployed', '{"by": "ada"}')).toMatchObject({ status: 0 });
  });
});
