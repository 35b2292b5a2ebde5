import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { openReader } from '@signalbox/store';
import { describe, expect, it } from 'vitest';
import { filledIn } from '../../../guided/test/support/agent-calls.ts';
import { dataDirectory, errorOf, eventsOf, value } from '../../../guided/test/support/guided-walk.ts';
import { exportSession } from '../../src/guided/index.ts';
import { thisMachine } from '../../src/machine.ts';
import { verifyRunReplay } from '../../src/replay/verify-replay.ts';
import { openSecrets } from '../../src/secrets/open-secrets.ts';
import { planText } from '../support/open-host.ts';
import { openTestHome } from '../support/open-scripted-home.ts';
import { openTools } from '../support/open-tools.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const SECRET = ['value', 'of', 'the', 'door'].join('-');
const MARK = '[redacted: DOOR_TOKEN]';
const env = { DOOR_TOKEN: SECRET };
const machine = thisMachine();

const open = (folder: string, variables: Readonly<Record<string, string>>) => openTestHome(folder, { env: variables });

/** The secret is in a file beside the plan, so that a process without the variable comes upon it too. */
function storyIn(folder: string): string {
  writeFileSync(path.join(folder, 'door.txt'), SECRET);
  return planText(
    `<Phase name="one">
       <Task id="tell" run={() => ({ door: door() })}
         onFinished={out => { ctx.state.set('heard', out.door); ctx.state.update('all', all => all + out.door + door()); }} />
     </Phase>
     <Phase name="two"><Task id="length" input={{ heard: ctx.state.get('heard') }} run={({ input }) => input.heard.length}
       onFinished={n => ctx.state.set('length', n)} /></Phase>
     <Phase name="ask"><Human id="ask" prompt={'Is it ' + door() + '?'} /></Phase>
     <Phase name="three">
       {ctx.state.get('failed') === undefined && <Task id="throws" retries={0} run={() => { throw new Error('not ' + door()); }}
         onError={({ error }) => ctx.state.set('failed', error.message)} />}
     </Phase>
     <Phase name="four"><Task id="again" run={() => [ctx.state.get('all'), door()]} onFinished={out => ctx.state.set('again', out)} /></Phase>`,
    `z.object({ heard: z.any(), all: z.string().default('begin: '), length: z.any(), failed: z.any(), again: z.any() })`,
    `import { readFileSync } from 'node:fs';
     const text = readFileSync(${JSON.stringify(path.join(folder, 'door.txt'))}, 'utf8');
     const door = () => text;`,
  );
}

const approve = { resolutionType: 'approve', rationale: '', actionKind: 'review' } as const;

describe('what a plan sees', () => {
  it('[A243] is what is committed, in one process as in two, and its frames come out again', async () => {
    const states: unknown[] = [];
    for (const variables of [env, {}]) {
      const folder = temporaryFolder();
      const first = await open(folder, env);
      const run = await first.start('story', storyIn(folder), { input: { word: SECRET }, name: `run ${SECRET}` });
      expect(await first.end(run)).toEqual({ status: 'waiting' });
      await first.close();
      const second = await open(folder, variables);
      const [question] = await second.store.decisions({ run, status: ['open'] });
      expect(question?.decision.proposal).toMatchObject({ prompt: `Is it ${MARK}?` });
      await second.host.answer(question?.decision.id ?? ('' as never), { resolution: approve }, 'tester');
      value(await second.host.resume(run));
      expect(await second.end(run)).toMatchObject({ status: 'completed' });
      const { name, input } = (await second.store.run(run)) ?? {};
      states.push({ name, input, state: await second.state(run) });
      await second.close();
      const verdict = value(await verifyRunReplay(path.join(folder, 'data'), run, { machine }));
      expect(verdict.runs).toMatchObject([{ verified: verdict.runs[0]?.frames }]);
    }
    const [alone, apart] = states;
    expect(apart).toEqual(alone);
    const all = `begin: ${MARK}${MARK}`;
    expect(alone).toEqual({
      name: `run ${MARK}`,
      input: { word: MARK },
      state: {
        heard: MARK,
        all,
        length: MARK.length,
        failed: `Node throws failed: Error: not ${MARK}`,
        again: [all, MARK],
      },
    });
  });

  it('[A243] is told to nobody else: what cannot be started does not quote its secrets', async () => {
    const folder = temporaryFolder();
    const { host } = await open(folder, env);
    const file = path.join(folder, 'broken.tsx');
    writeFileSync(file, `throw new Error('no ${SECRET}');`);
    const refused = await host.start({ file, anyFile: true, input: {} });
    expect(refused).toMatchObject({ ok: false });
    expect(JSON.stringify(refused)).not.toContain(SECRET);
    const twice = planText('<Task id="a" run={() => 1} />');
    writeFileSync(path.join(folder, 'twice.tsx'), twice);
    const start = (key: string) =>
      host.start({
        file: path.join(folder, 'twice.tsx'),
        anyFile: true,
        input: {},
        idempotencyKey: `${key} ${SECRET}`,
      });
    const [first, second, other] = [await start('x'), await start('x'), await start('y')];
    expect(second).toEqual(first);
    expect(other).not.toEqual(first);
    for (const run of [first, other]) await host.finished(value(run));
  });
});

describe('bundles', () => {
  it('[A247] hold no secret that was learnt after it was committed, whatever the exporting shell knows', async () => {
    const folder = temporaryFolder();
    const data = path.join(folder, 'data');
    const unknowing = await open(folder, {});
    const run = await unknowing.start('story', planText('<Task id="a" run={() => 1} />'), { input: { word: SECRET } });
    await unknowing.end(run);
    // A process that has the variable tells the data directory of it.
    openSecrets({ dataDirectory: data, env });
    const file = path.join(folder, 'run.bundle');
    expect(value(await unknowing.host.bundles.export(run, file)).redacted).toBeGreaterThan(0);
    await unknowing.close();
    expect(gunzipSync(readFileSync(file)).toString()).not.toContain(SECRET);
  });

  it('[A247] that were made elsewhere are filtered on their way in', async () => {
    const folder = temporaryFolder();
    const elsewhere = await open(folder, {});
    const run = await elsewhere.start('story', planText('<Task id="a" run={() => ctx.input.word} />'), {
      input: { word: SECRET },
    });
    await elsewhere.end(run);
    const file = path.join(folder, 'run.bundle');
    value(await elsewhere.host.bundles.export(run, file));
    await elsewhere.close();
    expect(gunzipSync(readFileSync(file)).toString()).toContain(SECRET);
    const here = temporaryFolder();
    const { host, close } = await open(here, env);
    const imported = value(await host.bundles.import({ file, anyFile: true }, 'tester'));
    await close();
    const reader = openReader({ path: path.join(here, 'data', 'db.sqlite') });
    const known = value(reader);
    const tasks = await known.tasks(imported.run);
    expect(await known.run(imported.run)).toMatchObject({ input: { word: MARK } });
    expect(tasks).toMatchObject([{ result: MARK }]);
    known.close();
  });
});

describe('guided sessions', () => {
  it('[G45] record notes, context and artifacts without secrets, and answer the same every time', async () => {
    const directory = dataDirectory();
    const tools = openTools(directory, { env });
    const start = value(await tools.start({ workflowId: 'wr.research', context: { about: SECRET } }));
    const call = filledIn(start);
    const output = {
      ...call.output,
      notesMarkdown: `${call.output?.notesMarkdown}\nIt is ${SECRET}.`,
      artifacts: [...(call.output?.artifacts ?? []), { kind: 'table', rows: SECRET + 'x'.repeat(70_000) }],
    };
    const answers = [
      value(await tools.continue({ ...call, output })),
      value(await tools.continue({ ...call, output })),
    ];
    expect(answers[1]).toEqual(answers[0]);
    const { checkpointToken = '' } = value(await tools.continue({ stateToken: answers[0]?.stateToken ?? '' }));
    value(await tools.checkpoint({ checkpointToken, notesMarkdown: `Mark: ${SECRET}` }));
    const events = JSON.stringify(eventsOf(directory, start.sessionId));
    expect(events).not.toContain(SECRET);
    expect(events.split(MARK).length).toBeGreaterThan(3);
  });

  it('[G46] that hold a secret all the same are not exported', async () => {
    const directory = dataDirectory();
    const tools = openTools(directory, { env: {} });
    const { sessionId } = value(await tools.start({ workflowId: 'wr.research', context: { about: SECRET } }));
    const exported = () =>
      exportSession({ dataDirectory: directory, clock: machine.clock, appVersion: '1' }, sessionId);
    expect(exported().ok).toBe(true);
    openSecrets({ dataDirectory: directory, env });
    expect(errorOf(exported())).toMatchObject({ code: 'session/holds-secret', details: { sessionId } });
  });
});
