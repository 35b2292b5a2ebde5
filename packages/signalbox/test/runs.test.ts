import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { entry, ownEnvironment, signalbox, temporaryFolder } from './program.ts';

const folder = temporaryFolder();
let count = 0;

/** A folder of its own, which is also the home: its data directory is in it. */
function newPlace(): string {
  const place = path.join(folder, `place-${count++}`);
  mkdirSync(place);
  return place;
}

function writePlan(place: string, name: string, source: string): string {
  writeFileSync(path.join(place, name), source);
  return name;
}

/** Eight steps, one after the other; each writes its number into a side file when its work is done. */
const COUNTING = `
import { appendFileSync, readFileSync } from 'node:fs';
import { definePlan, Phase, Step, Task } from 'signalbox';

export default definePlan({
  name: 'counting',
  render: () => (
    <Phase name="all">
      {[0, 1, 2, 3, 4, 5, 6, 7].map(number => (
        <Step key={String(number)} name={'step ' + number}>
          <Task
            id={'task-' + number}
            run={async () => {
              appendFileSync('side.txt', number + '\\n');
              if (number === 3) {
                process.stdout.write('working on 3\\n');
                await new Promise(() => {});
              }
              return number;
            }}
          />
        </Step>
      ))}
    </Phase>
  ),
});
`;

const linesOf = (place: string) => readFileSync(path.join(place, 'side.txt'), 'utf8').trimEnd().split('\n');
const jsonLines = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line));
const runsOf = (place: string) => jsonLines(signalbox(['ls', '--json'], { cwd: place }).stdout);

describe('signalbox run', () => {
  it('[X3] runs example 02, and says what its README shows', () => {
    const example = fileURLToPath(new URL('../../../examples/02-hello/', import.meta.url));
    const { status, stdout, stderr } = signalbox(['run', path.join(example, 'plan.tsx')], { cwd: newPlace() });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const told = stdout.replace(/completed \S+\n {2}6 tasks in .*\n {2}output .*\n$/, "completed <the run's id>\n");
    expect(readFileSync(path.join(example, 'README.md'), 'utf8')).toContain(`\`\`\`\n${told}\`\`\``);
  });

  it('[X9] [X155] keeps what it did for the commands that look at it', () => {
    const cwd = newPlace();
    const plan = fileURLToPath(new URL('../../../examples/02-hello/plan.tsx', import.meta.url));
    signalbox(['run', plan, '--name', 'first', '--tag', 'a', '--input', '{"names": ["Lin"]}'], { cwd });
    signalbox(['run', plan], { cwd });
    const [second, first] = runsOf(cwd);
    expect([second.name, first.name, first.tags, first.status]).toEqual(['hello', 'first', ['a'], 'completed']);
    expect(JSON.parse(signalbox(['state', first.id, '--json'], { cwd }).stdout)).toEqual({
      greetings: ['Hello, Lin'],
      polished: 3,
    });
    expect(JSON.parse(signalbox(['state', '--json'], { cwd }).stdout).greetings).not.toEqual(['Hello, Lin']);
    expect(signalbox(['show', first.id.slice(-8)], { cwd }).stdout).toContain(
      '  ✓ phase greet succeeded\n    ✓ step everybody succeeded',
    );
    const { tree } = JSON.parse(signalbox(['show', first.id, '--json'], { cwd }).stdout);
    expect([tree.kind, tree.status]).toEqual(['plan', 'succeeded']);
    const early = signalbox(['show', first.id, '--frame', '0'], { cwd }).stdout;
    expect(early).toContain('▶ task greet-Lin running');
    expect(signalbox(['show', first.id, '--xml'], { cwd }).stdout).toMatch(/^<plan [^>]*name="hello"/);
    expect(signalbox(['show', first.id, '--frame', '99'], { cwd })).toMatchObject({ status: 2 });
    const events = jsonLines(signalbox(['events', first.id, '--json'], { cwd }).stdout);
    expect(events.map(({ event }) => event.seq)).toEqual(events.map((_, index) => index));
    expect(events.at(-1).hash).toBe(first.head);
    const frames = jsonLines(signalbox(['frames', first.id, '--json'], { cwd }).stdout);
    expect(frames.map(frame => frame.index)).toEqual(Array.from({ length: first.frames }, (_, index) => index));
    const transitions = jsonLines(signalbox(['transitions', first.id, '--json'], { cwd }).stdout);
    expect(transitions.filter(({ key }) => key === 'polished').map(change => change.new)).toEqual([0, 1, 2, 3]);
    expect(signalbox(['transitions', first.id], { cwd }).stdout).toContain('polished: 2 → 3');
    expect(jsonLines(signalbox(['ls', '--tag', 'a', '--json'], { cwd }).stdout)).toHaveLength(1);
  });

  it('[X3] goes on after kill -9, at once, and does no committed step again', async () => {
    const cwd = newPlace();
    writePlan(cwd, 'counting.tsx', COUNTING);
    const child = spawn(process.execPath, [entry, 'run', 'counting.tsx'], {
      cwd,
      env: ownEnvironment(cwd),
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    // Task 3 never ends: while it works, everything before it is committed.
    let told = '';
    for await (const chunk of child.stdout.setEncoding('utf8')) {
      const wasWorking = told.includes('working on 3');
      told += chunk;
      if (!wasWorking && told.includes('working on 3')) process.kill(-(child.pid ?? 0), 'SIGKILL');
    }
    expect(linesOf(cwd)).toEqual(['0', '1', '2', '3']);
    const [run] = runsOf(cwd);
    expect(run).toMatchObject({ status: 'paused', interrupted: true });

    const changed = COUNTING.replace('number === 3', 'number === -1');
    writePlan(cwd, 'counting.tsx', changed);
    const resumed = signalbox(['resume', run.id.slice(0, 18), '--use-current'], { cwd });
    expect(resumed).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('! task task-3 was cut off: it starts again'),
    });
    expect(linesOf(cwd)).toEqual(['0', '1', '2', '3', '3', '4', '5', '6', '7']);
    expect(signalbox(['resume', run.id, '--use-current'], { cwd })).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('is completed'),
    });
  });

  it.each<[string, readonly string[], number, string]>([
    ['a file that is not there', ['run', 'missing.tsx'], 1, 'there is no file'],
    ['a file that is no plan', ['run', 'empty.tsx'], 1, 'does not export a plan as default'],
    ['a syntax error', ['run', 'broken.tsx'], 1, 'broken.tsx:1:'],
    ['an input that is not JSON', ['run', 'typed.tsx', '--input', '{'], 2, '--input is not JSON'],
    ['an input that does not fit', ['run', 'typed.tsx', '--input', '{"n": "x"}'], 2, 'does not take this input: n:'],
    ['a data directory without runs', ['show', 'ffff'], 1, 'No runs found'],
    [
      'a data directory that cannot be',
      ['run', 'typed.tsx', '--data-dir', '/proc/nowhere/deep'],
      1,
      'cannot be created',
    ],
    ['a data directory that is a file', ['run', 'typed.tsx', '--data-dir', 'empty.tsx'], 1, 'data directory'],
    ['a status that is none', ['ls', '--status', 'gone'], 2, 'gone is not a run status'],
  ])('says what is wrong with %s', (_name, args, status, message) => {
    const cwd = newPlace();
    writePlan(cwd, 'empty.tsx', 'export default 1;\n');
    writePlan(cwd, 'broken.tsx', 'export default <;\n');
    writePlan(
      cwd,
      'typed.tsx',
      `import { definePlan, Task } from 'signalbox';
       import * as z from 'zod';
       export default definePlan({ name: 'typed', input: z.object({ n: z.number() }), render: () => <Task id="a" run={() => 1} /> });`,
    );
    const said = signalbox(args, { cwd });
    expect(said).toMatchObject({ status, stderr: expect.stringContaining(message) });
    const asJson = signalbox([...args, '--json'], { cwd });
    expect(JSON.parse(asJson.stdout)).toMatchObject({
      message: expect.stringContaining(message),
      retry: expect.anything(),
    });
  });

  it('fails a run whose plan is wrong, at the author’s line, and one whose agent has no key', () => {
    const cwd = newPlace();
    writePlan(
      cwd,
      'handler.tsx',
      `import { definePlan, Phase } from 'signalbox';
export default definePlan({
  name: 'handler',
  render: () => <Phase name="a" {...{ onFinished() {} }} />,
});
`,
    );
    writePlan(
      cwd,
      'agent.tsx',
      `import { Claude, definePlan } from 'signalbox';
export default definePlan({ name: 'agent', render: () => <Claude id="c" model="sonnet" prompt="hi" /> });
`,
    );
    expect(signalbox(['run', 'handler.tsx'], { cwd })).toMatchObject({
      status: 1,
      stdout: expect.stringMatching(/failed .*not allowed on <Phase>.*handler\.tsx:4:17/s),
    });
    expect(signalbox(['run', 'agent.tsx'], { cwd })).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('ANTHROPIC_API_KEY'),
    });
  });
});
