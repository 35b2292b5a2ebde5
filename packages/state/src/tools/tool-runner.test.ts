import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  createTestRunner,
  createTestState,
  createTestTimers,
  must,
  note,
  noted,
  plan,
  setupPlan,
} from '../../test/builders.ts';
import { createPathLocks } from '../filesystem/path-locks.ts';
import { createMemoryUndoLog } from '../filesystem/undo-log.ts';
import { toolInvoked } from '../session/tool-invoked.ts';
import { snapshotsEquivalent } from '../snapshots/composite-snapshot.ts';
import {
  DeadlineExceededError,
  defineTool,
  fail,
  succeed,
  type ToolContext,
  type ToolEffects,
  type ToolReply,
  ToolValidationError,
  VisibilityExpansionRequired,
} from './tool.ts';

/** A tool that does what the test says. */
function tool(
  name: string,
  handler: (context: ToolContext) => ToolReply<string> | Promise<ToolReply<string>>,
  effects: ToolEffects<unknown> = { kind: 'files' },
) {
  return defineTool({
    name,
    description: 'a test',
    input: z.unknown(),
    output: z.string(),
    risk: 'medium',
    effects,
    handler: (_, context) => handler(context),
  });
}

/** Changes a file, the plan, which is state, and the notes, which are a log. */
async function breakEverything({ files, session }: ToolContext): Promise<void> {
  must(await files.write('file.txt', 'broken'));
  must(await files.write('new/file.txt', 'broken'));
  must(session.dispatch(setupPlan, { objective: 'broken', status: 'broken' }));
  must(session.dispatch(noted, 'tried'));
}

async function createWorkingState(options: Parameters<typeof createTestState>[0] = {}) {
  const made = createTestState(options);
  must(await made.files.write('file.txt', 'original'));
  must(made.state.session.slice(plan).seed([{ objective: 'test', status: 'active' }]));
  const before = must(await made.state.snapshot());
  const isUntouched = async () => snapshotsEquivalent(made.state.resources, before, must(await made.state.snapshot()));
  return { ...made, isUntouched };
}

const call = (name: string, input: unknown = {}) => ({ id: `call ${name}`, name, input });

describe('before the handler', () => {
  it('[S37] input is parsed by the tool’s schema, and a bad one runs nothing', async () => {
    const { state } = createTestState();
    let ran = false;
    const strict = defineTool({
      name: 'strict',
      description: 'a test',
      input: z.strictObject({ count: z.coerce.number() }),
      output: z.number(),
      risk: 'low',
      effects: { kind: 'none' },
      handler({ count }) {
        ran = true;
        return succeed(count + 1);
      },
    });
    const runner = createTestRunner(state, { tools: [strict] });
    expect(must(await runner.execute(call('strict', { count: 'x' })))).toMatchObject({
      error: { code: 'tool/invalid-input' },
    });
    expect(must(await runner.execute(call('nothing')))).toMatchObject({ error: { code: 'tool/unknown' } });
    expect(ran).toBe(false);
    expect(must(await runner.execute(call('strict', { count: '1' })))).toMatchObject({ status: 'succeeded', value: 2 });
  });

  it.each([
    [{ deny: ['t'] }, false],
    [{ allow: ['t'], deny: ['t'] }, false],
    [{ allow: ['other'] }, false],
    [{ allow: [] }, false],
    [{ maxRisk: 'low' as const }, false],
    [{ maxRisk: 'medium' as const }, true],
    [{ allow: ['t'], deny: ['other'] }, true],
    [{}, true],
  ])('[S38] policy %j lets the tool run: %s', async (policy, allowed) => {
    const { state } = createTestState();
    let ran = false;
    const t = tool('t', () => {
      ran = true;
      return succeed('done');
    });
    const outcome = must(await createTestRunner(state, { tools: [t], policy }).execute(call('t')));
    expect([outcome.status, ran]).toEqual(allowed ? ['succeeded', true] : ['failed', false]);
    if (!allowed)
      expect(outcome).toMatchObject({ error: { code: 'tool/refused' }, rollback: { kind: 'nothing-to-undo' } });
  });
});

describe('rollback triggers', () => {
  it('[S39] a handler that throws is rolled back and answered as a failure', async () => {
    const { state, isUntouched } = await createWorkingState();
    const t = tool('t', async context => {
      await breakEverything(context);
      throw new Error('out of luck');
    });
    const outcome = must(await createTestRunner(state, { tools: [t] }).execute(call('t')));
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { code: 'tool/failed', message: expect.stringContaining('out of luck') },
      rollback: { kind: 'restored', opaqueChanged: [], lost: [] },
    });
    expect(await isUntouched()).toBe(true);
    expect(state.session.slice(note).all()).toEqual(['tried']);
  });

  it('[S40] a result that says failure is rolled back and returned', async () => {
    const { state, isUntouched } = await createWorkingState();
    const t = tool('t', async context => {
      await breakEverything(context);
      return fail('not today', { hint: 'tomorrow' });
    });
    const outcome = must(await createTestRunner(state, { tools: [t] }).execute(call('t')));
    expect(outcome).toMatchObject({ status: 'failed', value: { hint: 'tomorrow' }, rollback: { kind: 'restored' } });
    expect(await isUntouched()).toBe(true);
  });

  it('[S41] a validation error is rolled back and answered as a failure', async () => {
    const { state, isUntouched } = await createWorkingState();
    const t = tool('t', async context => {
      await breakEverything(context);
      throw new ToolValidationError('makes no sense');
    });
    const outcome = must(await createTestRunner(state, { tools: [t] }).execute(call('t')));
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'tool/invalid-input' } });
    expect(await isUntouched()).toBe(true);
  });

  it.each([[succeed(1)], [undefined], [{ success: 'yes' }], [{ success: true }]])(
    '[S41] an answer %j that is not the tool’s output is rolled back',
    async answer => {
      const { state, isUntouched } = await createWorkingState();
      const t = tool('t', async context => {
        await breakEverything(context);
        return answer as unknown as ToolReply<string>;
      });
      const outcome = must(await createTestRunner(state, { tools: [t] }).execute(call('t')));
      expect(outcome).toMatchObject({ status: 'failed', error: { code: 'tool/invalid-output' } });
      expect(await isUntouched()).toBe(true);
    },
  );

  it('[S42] a visibility expansion is thrown again after the rollback, the same object', async () => {
    const { state, isUntouched } = await createWorkingState();
    const thrown = new VisibilityExpansionRequired(['details'], 'show more');
    const t = tool('t', async context => {
      await breakEverything(context);
      throw thrown;
    });
    await expect(createTestRunner(state, { tools: [t] }).execute(call('t'))).rejects.toBe(thrown);
    expect(await isUntouched()).toBe(true);
  });

  it('[S43] a handler that says that a deadline passed is rolled back and ends the evaluation', async () => {
    const { state, isUntouched } = await createWorkingState();
    const t = tool('t', async context => {
      await breakEverything(context);
      throw new DeadlineExceededError('noticed');
    });
    const ended = await createTestRunner(state, { tools: [t] }).execute(call('t'));
    expect(ended).toMatchObject({ ok: false, error: { code: 'tool/deadline', outcome: { status: 'failed' } } });
    expect(await isUntouched()).toBe(true);
  });
});

describe('cancellation', () => {
  it('[S44] aborts the handler’s signal, rolls back and answers tool/canceled', async () => {
    const { state, isUntouched } = await createWorkingState();
    const aborter = new AbortController();
    const t = tool('t', async context => {
      await breakEverything(context);
      aborter.abort();
      expect(context.signal.aborted).toBe(false);
      await new Promise(resolve => context.signal.addEventListener('abort', resolve));
      return succeed('done all the same');
    });
    const outcome = must(await createTestRunner(state, { tools: [t] }).execute(call('t'), { signal: aborter.signal }));
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { code: 'tool/canceled' },
      rollback: { kind: 'restored' },
    });
    expect(await isUntouched()).toBe(true);
  });

  it('[S44] [S105] a handler that ignores it is answered in time, and its directory is held until it has ended and is undone', async () => {
    const { state, files, isUntouched } = await createWorkingState();
    const aborter = new AbortController();
    const timers = createTestTimers();
    let goOn = () => {};
    const later = new Promise<void>(resolve => {
      goOn = resolve;
    });
    let refused: unknown;
    let ended = () => {};
    const end = new Promise<void>(resolve => {
      ended = resolve;
    });
    const t = tool('t', async context => {
      await breakEverything(context);
      aborter.abort();
      await later;
      refused = await context.files.write('file.txt', 'from beyond');
      // It has other ways than its context.
      must(await files.write('file.txt', 'around its context'));
      ended();
      return succeed('never heard');
    });
    const next = tool('next', () => succeed('done'));
    const runner = createTestRunner(state, { tools: [t, next], timers });
    let outcome: unknown;
    void runner.execute(call('t'), { signal: aborter.signal }).then(ran => {
      outcome = must(ran);
    });
    while (outcome === undefined) {
      timers.fire();
      await new Promise(setImmediate);
    }
    expect(outcome).toMatchObject({ error: { code: 'tool/canceled' }, rollback: { kind: 'waiting' } });
    expect(must(await runner.execute(call('next')))).toMatchObject({
      error: { code: 'state/lock-failed', message: expect.stringContaining('is still running') },
    });
    goOn();
    await end;
    expect(refused).toMatchObject({ ok: false, error: { code: 'state/path-refused' } });
    const go = async () => must(await runner.execute(call('next'))).status === 'succeeded';
    while (!(await go())) await new Promise(setImmediate);
    expect(await isUntouched()).toBe(true);
  });

  it('[S44] a call that is canceled while it waits for its root runs nothing', async () => {
    const { state, files } = createTestState();
    const locks = createPathLocks();
    const release = must(await locks.acquire(files.lockPath, 'exclusive'));
    let ran = false;
    const t = tool('t', () => {
      ran = true;
      return succeed('done');
    });
    const aborter = new AbortController();
    const waiting = createTestRunner(state, { tools: [t], locks }).execute(call('t'), { signal: aborter.signal });
    aborter.abort();
    expect(must(await waiting)).toMatchObject({ error: { code: 'tool/canceled' } });
    release();
    expect(ran).toBe(false);
  });
});

describe('calls side by side', () => {
  it('[S45] calls with file effects on one root run one at a time; others do not wait', async () => {
    const { state } = createTestState();
    const log: string[] = [];
    const slow = (name: string, effects: ToolEffects<unknown>) =>
      tool(
        name,
        async () => {
          log.push(`${name} begins`);
          for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
          log.push(`${name} ends`);
          return succeed('done');
        },
        effects,
      );
    const tools = [slow('a', { kind: 'files' }), slow('b', { kind: 'files' }), slow('reader', { kind: 'read-only' })];
    const runner = createTestRunner(state, { tools });
    await Promise.all(['a', 'b', 'reader'].map(name => runner.execute(call(name))));
    expect(log.indexOf('b begins')).toBeGreaterThan(log.indexOf('a ends'));
    expect(log.indexOf('reader begins')).toBeLessThan(log.indexOf('a ends'));
  });

  it('[S45] two states with one directory and one set of locks wait for each other', async () => {
    const shared = createTestState();
    const other = createTestState({ files: shared.files });
    const locks = createPathLocks();
    let inside = 0;
    let most = 0;
    const t = tool('t', async () => {
      most = Math.max(most, ++inside);
      for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
      inside--;
      return succeed('done');
    });
    const runners = [shared, other].map(({ state }) => createTestRunner(state, { tools: [t], locks }));
    await Promise.all(runners.flatMap(runner => [runner.execute(call('t')), runner.execute(call('t'))]));
    expect(most).toBe(1);
  });

  it('[S46] a failed call undoes neither an earlier nor a concurrent call that succeeded', async () => {
    const { state, files } = await createWorkingState();
    let goOn = () => {};
    const later = new Promise<void>(resolve => {
      goOn = resolve;
    });
    const good = tool('good', async context => {
      must(await context.files.write('good.txt', 'kept'));
      must(context.session.dispatch(setupPlan, { objective: 'kept', status: 'kept' }));
      return succeed('done');
    });
    const planner = tool(
      'planner',
      ({ session }) => {
        must(session.dispatch(setupPlan, { objective: 'concurrent', status: 'kept' }));
        goOn();
        return succeed('done');
      },
      { kind: 'none' },
    );
    const bad = tool('bad', async context => {
      await breakEverything(context);
      await later;
      return fail('as told');
    });
    const runner = createTestRunner(state, { tools: [good, planner, bad] });
    must(await runner.execute(call('good')));
    await Promise.all([runner.execute(call('bad')), runner.execute(call('planner'))]);
    expect(state.session.slice(plan).latest()).toEqual({ objective: 'concurrent', status: 'kept' });
    expect(must(await files.list('.')).map(entry => entry.name)).toEqual(['file.txt', 'good.txt']);
  });

  it('[S8] a call whose session changes cannot be committed is undone as a whole', async () => {
    const { state, isUntouched } = await createWorkingState();
    const t = tool('t', async context => {
      await breakEverything(context);
      // Somebody else changes the plan to something on which the call's own event cannot be reduced.
      state.session.slice(plan).register(setupPlan, () => {
        throw new Error('closed');
      });
      must(state.session.slice(plan).seed([{ objective: 'test', status: 'active' }]));
      return succeed('done');
    });
    const outcome = must(await createTestRunner(state, { tools: [t] }).execute(call('t')));
    expect(outcome).toMatchObject({ status: 'failed', rollback: { kind: 'restored' } });
    expect(await isUntouched()).toBe(true);
  });
});

describe('what a tool declares', () => {
  it.each(['none', 'read-only', 'external'] as const)(
    '[S37] a tool with effects %s cannot change files through its context',
    async kind => {
      const { state, files } = await createWorkingState();
      const t = tool(
        't',
        async context => {
          const written = await context.files.write('file.txt', 'sneaky');
          return written.ok ? succeed('done') : fail(written.error.code);
        },
        { kind },
      );
      expect(must(await createTestRunner(state, { tools: [t] }).execute(call('t')))).toMatchObject({
        status: 'failed',
      });
      expect(Buffer.from(must(await files.read('file.txt'))).toString()).toBe('original');
    },
  );

  it('[S22] a tool that declares its paths cannot change others, not through a link either', async () => {
    const { state, files } = await createWorkingState();
    must(await files.symlink('file.txt', 'link'));
    const results: boolean[] = [];
    const t = tool(
      't',
      async context => {
        for (const path of ['mine/deep.txt', 'mine', 'other.txt', 'link'])
          results.push((await context.files.write(path, 'x')).ok);
        return fail('as told');
      },
      { kind: 'files', paths: () => ['mine'] },
    );
    const outcome = must(await createTestRunner(state, { tools: [t] }).execute(call('t')));
    expect([outcome.status, results]).toEqual(['failed', [true, false, false, false]]);
    expect(must(await files.list('.')).map(entry => entry.name)).toEqual(['file.txt', 'link']);
  });

  it('[S47] an external tool without an answer ends as unknown, one that answers does not', async () => {
    const undoLog = createMemoryUndoLog();
    const { state } = createTestState();
    const seen: string[] = [];
    const external = (name: string, handler: () => ToolReply<string>) =>
      tool(
        name,
        async () => {
          seen.push(...(await undoLog.pending()).map(record => record.callId));
          return handler();
        },
        { kind: 'external' },
      );
    const tools = [
      external('throws', () => {
        throw new Error('connection lost');
      }),
      external('mumbles', () => succeed(1 as unknown as string)),
      external('refuses', () => fail('no')),
      external('validates', () => {
        throw new ToolValidationError('no');
      }),
      external('works', () => succeed('sent')),
    ];
    const runner = createTestRunner(state, { tools, undoLog });
    const statuses = [];
    for (const { name } of tools) statuses.push(must(await runner.execute(call(name))).status);
    expect(statuses).toEqual(['unknown', 'unknown', 'failed', 'failed', 'succeeded']);
    expect(seen).toEqual(tools.map(({ name }) => `call ${name}`));
    expect(await undoLog.pending()).toEqual([]);
  });

  it('[S47] an external tool that is canceled is unknown, unless it answers after all', async () => {
    const { state } = createTestState();
    const aborter = new AbortController();
    const late = tool(
      'late',
      async ({ signal }) => {
        aborter.abort();
        await new Promise(resolve => signal.addEventListener('abort', resolve));
        return succeed('sent before it was canceled');
      },
      { kind: 'external' },
    );
    const second = new AbortController();
    let began = false;
    const silent = tool(
      'silent',
      async () => {
        began = true;
        second.abort();
        return new Promise(() => {});
      },
      { kind: 'external' },
    );
    const timers = createTestTimers();
    const runner = createTestRunner(state, { tools: [late, silent], timers });
    expect(must(await runner.execute(call('late'), { signal: aborter.signal }))).toMatchObject({ status: 'succeeded' });
    expect(must(await runner.execute(call('silent'), { signal: aborter.signal }))).toMatchObject({
      status: 'failed',
      error: { code: 'tool/canceled' },
    });
    expect(began).toBe(false);
    const running = runner.execute(call('silent'), { signal: second.signal });
    while (timers.waiting === 0) await new Promise(setImmediate);
    timers.fire();
    expect(must(await running)).toMatchObject({ status: 'unknown', error: { code: 'tool/outcome-unknown' } });
  });
});

describe('after the call', () => {
  it('[S48] every call is told of, and telemetry that fails or never ends changes nothing', async () => {
    const { state } = createTestState();
    const told: unknown[] = [];
    const telemetry = (invocation: unknown) => {
      told.push(invocation);
      if (told.length === 1) throw new Error('the bus is down');
      return told.length === 2 ? Promise.reject(new Error('later')) : new Promise(() => {});
    };
    const tools = [tool('good', () => succeed('done')), tool('bad', () => fail('as told'))];
    const runner = createTestRunner(state, { tools, telemetry });
    const statuses = [];
    for (const name of ['good', 'bad', 'good']) statuses.push(must(await runner.execute(call(name))).status);
    expect(statuses).toEqual(['succeeded', 'failed', 'succeeded']);
    const invocation = (name: string, status: string, errorCode: string | null) => ({
      callId: `call ${name}`,
      tool: name,
      status,
      errorCode,
      elapsedMs: 0,
    });
    const expected = [
      invocation('good', 'succeeded', null),
      invocation('bad', 'failed', 'tool/failed'),
      invocation('good', 'succeeded', null),
    ];
    expect(told).toEqual(expected);
    expect(state.session.slice(toolInvoked).all()).toEqual(expected);
  });

  it('[S49] the same calls through two runners leave equivalent states', async () => {
    const tools = [
      tool('write', async ({ files, session }) => {
        must(await files.write('made.txt', 'x'));
        must(session.dispatch(setupPlan, { objective: 'made', status: 'done' }));
        return succeed('done');
      }),
      tool('break', async context => {
        await breakEverything(context);
        return fail('as told');
      }),
    ];
    const results = [];
    for (const telemetry of [undefined, () => {}]) {
      const { state } = await createWorkingState();
      const runner = createTestRunner(state, { tools, ...(telemetry && { telemetry }) });
      for (const name of ['break', 'write', 'break']) must(await runner.execute(call(name)));
      results.push({ state, snapshot: must(await state.snapshot()) });
    }
    const [one, two] = results;
    if (one === undefined || two === undefined) throw new Error('two states were made');
    expect(snapshotsEquivalent(one.state.resources, one.snapshot, two.snapshot)).toBe(true);
    expect(one.snapshot.session.slices).toEqual({ Plan: [{ objective: 'made', status: 'done' }] });
  });
});

describe('a reply that cannot be judged', () => {
  const odd = (value: unknown) => value as ToolReply<string>;
  const revoked = () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  };
  const throwing = (property: string) =>
    Object.defineProperty({ success: false, message: 'm' }, property, {
      get() {
        throw new Error('a getter');
      },
    });
  const cases: readonly (readonly [string, z.ZodType<string>, () => ToolReply<string>])[] = [
    ['an output schema that waits', z.string().refine(async () => true), () => succeed('done')],
    [
      'an output schema that throws',
      z.string().refine(() => {
        throw new Error('a schema');
      }),
      () => succeed('done'),
    ],
    ['a getter that throws', z.string(), () => odd(throwing('success'))],
    ['a message that throws', z.string(), () => odd(throwing('message'))],
    ['a value that throws', z.string(), () => odd(throwing('value'))],
    ['a message that is no text', z.string(), () => odd({ success: false, message: Object.create(null) })],
    ['a reply that is no object', z.string(), () => odd(7)],
    ['a revoked proxy', z.string(), () => odd(revoked())],
    [
      'a thrown value without a prototype',
      z.string(),
      () => {
        throw Object.create(null);
      },
    ],
    [
      'a thrown revoked proxy',
      z.string(),
      () => {
        throw revoked();
      },
    ],
    [
      'a thrown error with a message that throws',
      z.string(),
      () => {
        throw throwing('message');
      },
    ],
  ];
  it.each(cases)('[S102] %s is a failed call, rolled back, and the next call runs', async (_, output, reply) => {
    const { state, isUntouched } = await createWorkingState();
    const strange = defineTool({
      name: 'strange',
      description: 'a test',
      input: z.unknown(),
      output,
      risk: 'low',
      effects: { kind: 'files' },
      async handler(__, context) {
        await breakEverything(context);
        return reply();
      },
    });
    const plain = tool('plain', () => succeed('done'));
    const runner = createTestRunner(state, { tools: [strange, plain] });
    expect(must(await runner.execute(call('strange')))).toMatchObject({
      status: 'failed',
      rollback: { kind: 'restored' },
    });
    expect(await isUntouched()).toBe(true);
    expect(must(await runner.execute(call('plain')))).toMatchObject({ status: 'succeeded' });
  });

  it('[S102] an input schema or a declaration of paths that throws runs nothing and is a failed call', async () => {
    const { state, isUntouched } = await createWorkingState();
    const boom = () => {
      throw Object.create(null);
    };
    const bad = defineTool({
      ...tool('bad', () => succeed('done')),
      input: z.unknown().refine(async () => true),
    });
    const worse = tool('worse', () => succeed('done'), { kind: 'files', paths: boom });
    const runner = createTestRunner(state, { tools: [bad, worse] });
    for (const name of ['bad', 'worse']) {
      expect(must(await runner.execute(call(name)))).toMatchObject({ error: { code: 'tool/invalid-input' } });
    }
    expect(await isUntouched()).toBe(true);
  });
});
