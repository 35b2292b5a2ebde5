import { existsSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { nodeInput, planDescription, planList, type RunId, replayReport, runCheck } from '@signalbox/model';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openAgentTools } from '../src/agents/agent-tools.ts';
import { planPlaces } from '../src/host/plan-places.ts';
import { describePlan } from '../src/inspection/describe-plan.ts';
import { createRunInspection } from '../src/inspection/run-inspection.ts';
import { thisMachine } from '../src/machine.ts';
import { openTestHost, planText, type TestHost } from './support/open-host.ts';
import { temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder();
const dataDirectory = path.join(folder, 'data');
const machine = thisMachine();
let test: TestHost;
let release: RunId;

const LONG = 300 * 1024;
const RELEASE = `
import { Agent, definePlan, Human, If, Phase, Task } from 'signalbox';
import * as z from 'zod';

export default definePlan({
  name: 'release',
  description: 'Counts, and says when it is done.',
  input: z.object({ version: z.string().default('1.0').describe('What is released'), dry: z.boolean().optional() }),
  state: z.object({ n: z.number().default(0), note: z.string().default('') }),
  render: ctx => (
    <>
      <Phase name="count">
        <Task id="count" input={{ version: ctx.input.version }} effects="undoable" run={() => 2}
          onFinished={n => ctx.state.set('n', n)} onError={() => {}} />
      </Phase>
      <Phase name="ask">
        {ctx.state.get('n') === 0 && <Task id="early" input={'x'.repeat(${LONG})} run={() => 1} />}
        <If condition={ctx.state.get('n') > 10}>
          <Agent id="review" model="test/model" prompt={'Look at ' + ctx.input.version + '.'} system="Be strict."
            tools={{ allow: ['read_file', 'write_file', 'artifact', 'fly'], deny: ['artifact'] }} permissions="gated"
            schema={z.object({ verdict: z.enum(['good', 'bad']) })} maxTurns={7} onFinished={() => {}} />
        </If>
        <Human id="sign" prompt={'May ' + ctx.state.get('n') + ' go out?' + 'é'.repeat(${LONG})} options={[{ id: 'yes' }]} />
      </Phase>
    </>
  ),
});`;

beforeAll(async () => {
  test = await openTestHost(folder, { threads: { threads: 1 }, tools: openAgentTools(dataDirectory, machine) });
  release = await test.start('release', RELEASE, { name: 'tuesday', input: { version: '1.4' } });
  await test.end(release);
});
afterAll(() => test.close());

const value = async <T>(answer: Promise<{ ok: true; value: T } | { ok: false; error: { message: string } }>) => {
  const result = await answer;
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
};
const code = async (answer: Promise<{ ok: true } | { ok: false; error: { code: string } }>) => {
  const result = await answer;
  return result.ok ? 'ok' : result.error.code;
};
const input = async (node: string, frame?: number) =>
  nodeInput.parse(await value(test.host.inspection.nodeInput(release, node, frame)));

describe('what a node was given', () => {
  it('[A112] is its words, its rules, its schema and everything else on it', async () => {
    const review = await input('review');
    expect(review).toMatchObject({
      node: 'review',
      kind: 'agent',
      prompt: 'Look at 1.4.',
      system: 'Be strict.',
      model: 'test/model',
      schema: { type: 'object', properties: { verdict: { enum: ['good', 'bad'] } } },
      props: { maxTurns: 7, resume: 'continue', retries: 3 },
      handlers: ['onFinished'],
      signature: expect.stringMatching(/^[0-9a-f]{16}$/),
      leftOut: {},
      source: { file: path.join(folder, 'release.tsx') },
    });
    expect(Object.keys(review.props)).not.toContain('prompt');
    expect(review).not.toHaveProperty('startedSignature');
    const count = await input('count');
    expect(count).toMatchObject({
      props: { input: { version: '1.4' }, effects: 'undoable' },
      handlers: ['onFinished', 'onError'],
    });
    expect(count.startedSignature).toBe(count.signature);
    expect(count).not.toHaveProperty('tools');
  });

  it('[A113] has the tools that its agent is offered, and which of them a person is asked about', async () => {
    const { tools } = await input('review');
    expect(tools).toMatchObject({
      allow: ['read_file', 'write_file', 'artifact', 'fly'],
      deny: ['artifact'],
      permissions: 'gated',
    });
    const named = Object.fromEntries((tools?.tools ?? []).map(({ name, ...tool }) => [name, tool]));
    expect(named).toMatchObject({
      read_file: { offered: true, needsApproval: false, risk: 'low', effects: 'read-only' },
      write_file: { offered: true, needsApproval: true, effects: 'files' },
      edit_file: { offered: false },
      artifact: { offered: false, needsApproval: false },
      run_command: { offered: false },
    });
    expect(named).not.toHaveProperty('fly');
  });

  it('[A112] is that of the frame, and of the last that has the node unless one is asked for', async () => {
    const { frames = 0 } = (await test.store.run(release)) ?? {};
    expect((await input('sign', 0)).prompt).toMatch(/^May 0 go out/);
    expect(await input('sign')).toMatchObject({ frame: frames - 1, prompt: expect.stringMatching(/^May 2 go out/) });
    const early = await input('early');
    expect(early.frame).toBeLessThan(frames - 1);
    const inspection = (node: string, frame?: number) => code(test.host.inspection.nodeInput(release, node, frame));
    expect(await inspection('early', frames - 1)).toBe('run/node-unknown');
    expect(await inspection('early', frames)).toBe('run/frame-unknown');
    for (const node of ['nobody', '', '__proto__', 'x'.repeat(5_000)])
      expect(await inspection(node)).toBe('run/node-unknown');
    expect(await code(test.host.inspection.nodeInput('01890000-0000-7000-8000-00000000dead' as RunId, 'a'))).toBe(
      'run/unknown',
    );
  });

  it('[A114] is cut where it is too long, and says by how much', async () => {
    const sign = await input('sign');
    const whole = 'May 2 go out?'.length + 2 * LONG;
    const kept = Buffer.byteLength((sign.prompt ?? '').replace('\n\n[TRUNCATED]', ''));
    expect(kept).toBeGreaterThan(200 * 1024);
    expect(sign.leftOut).toEqual({ prompt: whole - kept });
    const early = await input('early');
    expect(early.leftOut['props.input']).toBeGreaterThan(LONG - 256 * 1024);
  });
});

describe('plans', () => {
  it('[A115] are those that runs were made of, the last first, in pages', async () => {
    const before = await value(test.host.inspection.plans());
    expect(planList.parse(before)).toEqual({
      plans: [
        {
          file: path.join(folder, 'release.tsx'),
          name: 'release',
          runs: 1,
          lastRun: { id: release, status: 'waiting', createdAt: expect.any(String) },
          exists: true,
        },
      ],
    });
    const nested = planText(
      '<SubPlan id="below" plan={below} />',
      undefined,
      "const below = definePlan({ name: 'below', render: () => [] });",
    );
    for (const name of ['other', 'other']) await test.end(await test.start(name, nested));
    rmSync(path.join(folder, 'other.tsx'));
    const first = await value(test.host.inspection.plans({ limit: 1 }));
    expect(first).toMatchObject({
      plans: [{ file: path.join(folder, 'other.tsx'), name: 'test', runs: 2, exists: false }],
      next: path.join(folder, 'other.tsx'),
    });
    const rest = await value(test.host.inspection.plans({ limit: 1, after: first.next }));
    expect(rest).toMatchObject({ plans: [{ name: 'release' }] });
    expect(rest).not.toHaveProperty('next');
    expect(await code(test.host.inspection.plans({ after: '/elsewhere.tsx' }))).toBe('VALIDATION_ERROR');
  });

  it('[A116] are described with what they take, and nothing of them is run', async () => {
    const described = planDescription.parse(
      await value(test.host.inspection.describePlan(path.join(folder, 'release.tsx'))),
    );
    expect(described).toEqual({
      file: path.join(folder, 'release.tsx'),
      name: 'release',
      description: 'Counts, and says when it is done.',
      inputSchema: expect.objectContaining({
        type: 'object',
        properties: {
          version: { type: 'string', default: '1.0', description: 'What is released' },
          dry: { type: 'boolean' },
        },
      }),
    });
    expect(described.inputSchema).not.toHaveProperty('required');
  });

  it.each([
    ['is not there', '', 'plan/load-failed', 'there is no file'],
    ['is no plan', 'export default 7;', 'plan/not-a-plan', 'does not export a plan'],
    ['throws', "throw new RangeError('too bad');", 'plan/load-failed', 'RangeError: too bad'],
    ['ends its thread', 'process.exit(3);', 'run/thread-lost', 'ended by itself with 3'],
    [
      'takes all memory',
      'const all = []; for (;;) all.push(new Array(1_000_000).fill(all.length));',
      'run/thread-lost',
      'memory',
    ],
    [
      'takes what has no end',
      planText('').replace(
        'z.any()',
        'z.object(Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => ["field" + i, z.string()])))',
      ),
      'plan/input-invalid',
      'bytes',
    ],
  ])('[A117] one that %s is told so, and harms nobody', async (_what, source, expected, words) => {
    const file = path.join(folder, 'wrong.tsx');
    if (source === '') rmSync(file, { force: true });
    else writeFileSync(file, source);
    const { problem } = planDescription.parse(await describePlan(file, { machine }));
    expect(problem).toMatchObject({ code: expected, message: expect.stringContaining(words) });
    expect(test.host.driven()).toEqual([]);
  });

  it.each([
    ['spins', 'for (;;);'],
    ['waits for ever', 'await new Promise(() => setInterval(() => {}, 1000));'],
  ])('[A117] one that %s is given up when its time is over', async (what, source) => {
    const file = path.join(folder, 'late.tsx');
    const begun = path.join(folder, `${what}.begun`);
    writeFileSync(
      file,
      `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(begun)}, ''); ${source}`,
    );
    let timeMs = 0;
    const threadTime = async () => {
      if (existsSync(begun)) timeMs += 30_000;
      return timeMs;
    };
    const { problem } = await describePlan(file, { machine, threads: { threadTime } });
    expect(problem).toMatchObject({ code: 'run/thread-lost', message: expect.stringMatching(/did not (answer|load)/) });
  });

  it('[A117] a device is no plan', async () => {
    expect(await describePlan('/dev/zero', { machine })).toMatchObject({ problem: { code: 'plan/load-failed' } });
  });
});

describe('a run', () => {
  it('[A118] is verified and replayed beside everything else, by what the commands call', async () => {
    const check = runCheck.parse(await value(test.host.inspection.verify(release)));
    expect(check).toMatchObject({ ok: true, run: release, journal: { ok: true, health: 'healthy' } });
    expect(await value(test.host.inspection.verify(release, { expectHead: check.head }))).toMatchObject({ ok: true });
    const replayed = replayReport.parse(await value(test.host.inspection.replay(release)));
    const { frames } = (await test.store.run(release)) ?? {};
    expect(replayed).toEqual({
      ok: true,
      run: release,
      runs: [{ run: release, name: 'release', frames, verified: frames, unverified: { count: 0, first: [] } }],
    });
  });

  it('[A118] whose plan renders otherwise is told with the frame, the value and the line', async () => {
    const file = path.join(folder, 'changed.tsx');
    writeFileSync(file, RELEASE.replace("ctx.state.set('n', n)", "ctx.state.set('note', 'y'.repeat(40_000))"));
    const { ok, runs } = replayReport.parse(await value(test.host.inspection.replay(release, { plan: file })));
    expect(ok).toBe(false);
    expect(runs[0]?.difference).toMatchObject({ kind: 'frame', source: { file, line: 13 } });
    expect(runs[0]?.difference?.rows).toContainEqual(
      expect.objectContaining({ space: 'state', key: 'n', recorded: 2, replayed: 0, writtenBy: 'onFinished of count' }),
    );
    expect(runs[0]?.difference?.rows).toContainEqual(
      expect.objectContaining({ space: 'state', key: 'note', leftOut: { replayed: 40_002 } }),
    );
  });

  it('[A118] whose record was changed is told so', async () => {
    const run = await test.start('broken', planText('<Task id="a" run={() => 1} />'));
    await test.end(run);
    const database = new DatabaseSync(path.join(dataDirectory, 'db.sqlite'));
    database.exec(`update runs set head = 'sha256:${'1'.repeat(64)}' where id = '${run}'`);
    database.close();
    expect(runCheck.parse(await value(test.host.inspection.verify(run)))).toMatchObject({
      ok: false,
      defects: [{ where: 'table', table: 'runs' }],
    });
  });

  it('[A119] is not looked at once the host is closed', async () => {
    const inspection = createRunInspection({
      dataDirectory,
      machine,
      places: planPlaces({ dataDirectory, roots: [] }),
      reader: test.store,
      drain: async () => {},
    });
    inspection.close();
    expect(await code(inspection.replay(release))).toBe('run/thread-lost');
    expect(await code(inspection.verify(release))).toBe('run/thread-lost');
  });
});
