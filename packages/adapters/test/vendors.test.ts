import type { Json } from '@signalbox/model';
import type { Assignment } from '@signalbox/runs';
import { type ModelReply, type ModelScript, type ModelServer, startModelServer } from '@signalbox/testkit';
import { afterEach, describe, expect, it } from 'vitest';
import {
  assignmentOf,
  createTestRunner,
  createWorld,
  environmentOf,
  idleTimers,
  KEY,
  kindsOf,
  vendors,
  type World,
} from './builders.ts';
import { createMemoryTask, type SessionOptions } from './memory-session.ts';

let server: ModelServer;
afterEach(() => server.close());

const write = (path: string, content: string) => ({ tool: 'write_file', input: { path, content } });
const read = (path: string) => ({ tool: 'read_file', input: { path } });

describe.each(vendors)('the built-in agent on $vendor', ({ vendor, model }) => {
  async function given(script: ModelScript, world: World = createWorld()) {
    server = await startModelServer(script);
    const task = createMemoryTask();
    const timers = idleTimers();
    const runner = createTestRunner({ world, environment: environmentOf(server), timers });
    const run = (fields: Partial<Assignment> = {}, options: SessionOptions = {}) =>
      runner.run(assignmentOf({ model, ...fields }), task.session(options));
    return { task, world, run, runner, timers };
  }
  const tools = { allow: ['read_file', 'write_file'] };
  const hasThinking = vendor !== 'openai-chat';

  it('[B6, B7] works in turns: an answer, its calls in order, their results, the next answer', async () => {
    const { task, world, run } = await given([
      { thinking: 'I should write.', text: ['I will ', 'write.'], calls: [write('a.txt', 'A'), write('b.txt', 'B')] },
      { text: 'And read.', calls: [read('a.txt'), read('b.txt')] },
      { text: 'Both are there.' },
    ]);
    expect(await run({ tools })).toEqual({ kind: 'done', output: 'Both are there.' });
    expect([await world.read('a.txt'), await world.read('b.txt')]).toEqual(['A', 'B']);
    expect(server.requests.map(request => request.status)).toEqual([200, 200, 200]);
    expect(server.requests[2]?.asked?.since).toEqual([
      { kind: 'result', tool: 'read_file', text: expect.stringContaining('A') },
      { kind: 'result', tool: 'read_file', text: expect.stringContaining('B') },
    ]);
    // What the model thought goes back to it, with the provider's seal.
    const sealed = JSON.stringify(server.requests[2]?.body).match(/(signed|encrypted)-by-the-model-server/g) ?? [];
    expect(sealed).toHaveLength(vendor === 'anthropic' || vendor === 'openai-responses' ? 1 : 0);
    expect(kindsOf(task.kept)).toEqual([
      'begun',
      'assistant',
      'tool_begun',
      'tool_ended',
      'tool_begun',
      'tool_ended',
      'assistant',
      'tool_ended',
      'tool_ended',
      'assistant',
    ]);
    const said = (kind: string) => task.streamed.filter(one => one.kind === kind).map(one => one.payload);
    expect(said('token').slice(0, 2)).toEqual(['I will ', 'write.']);
    expect(said('thinking').join('')).toBe(hasThinking ? 'I should write.' : '');
    expect(said('tool_end')).toMatchObject([
      { tool: 'write_file', outcome: 'succeeded', ms: 0, approval: 'not-needed' },
      { tool: 'write_file', outcome: 'succeeded' },
      { tool: 'read_file', outcome: 'succeeded' },
      { tool: 'read_file', outcome: 'succeeded' },
    ]);
    expect(world.opened()).toBe(0);
  });

  it('[B29] tells the model where it is, what it has, and then what the author says', async () => {
    const { run } = await given([{ text: 'Done.' }]);
    await run({ tools, system: 'Write in verse.' });
    const asked = server.requests[0]?.asked;
    expect(asked?.system).toMatch(/\/work.*read_file, write_file.*Write in verse\.$/s);
    expect(asked?.prompt).toBe('Build it.');
    expect(asked?.tools.map(tool => tool.name)).toEqual(['read_file', 'write_file']);
  });

  it('[B8] does not offer what is denied, and refuses it where it is called all the same', async () => {
    const { task, world, run } = await given([{ calls: [write('a.txt', 'A')] }, { text: 'Without, then.' }]);
    expect(await run({ tools: { allow: ['read_file', 'write_file'], deny: ['write_file'] } })).toMatchObject({
      kind: 'done',
    });
    expect(server.requests[0]?.asked?.tools.map(tool => tool.name)).toEqual(['read_file']);
    expect(server.requests[1]?.asked?.since[0]).toMatchObject({ text: expect.stringContaining('is denied here') });
    expect([world.runs, task.questions.size]).toEqual([{}, 0]);
  });

  it('[B9] runs nothing on an input that is not valid, and says so', async () => {
    const broken: ModelReply = {
      calls: [
        { tool: 'read_file', input: { path: 7 } },
        { tool: 'read_file', input: {}, rawInput: '{"path": ' },
      ],
    };
    const { world, run } = await given([broken, { text: 'I see.' }]);
    expect(await run({ tools })).toMatchObject({ kind: 'done' });
    const [first, second] = server.requests[1]?.asked?.since ?? [];
    expect(first).toMatchObject({ text: expect.stringContaining('is not valid') });
    // Google's format has inputs as data: they cannot be broken off.
    const said = vendor === 'google' ? 'is not valid' : 'not a JSON object';
    expect(second).toMatchObject({ text: expect.stringContaining(said) });
    expect(world.runs).toEqual({});
  });

  it('[B12, B13] waits for a person, and goes on where it stopped', async () => {
    const { task, world, run } = await given([
      {
        thinking: 'Hm.',
        text: 'This needs a mail.',
        calls: [{ tool: 'send_mail', input: { to: 'a@b' } }, write('a.txt', 'A')],
      },
      { text: 'Sent.' },
    ]);
    const assignment = { permissions: 'gated' as const };
    expect(await run(assignment)).toEqual({ kind: 'blocked', reason: 'approval_required:external_api' });
    expect([...task.questions.values()].map(({ kind, proposal }) => [kind, proposal])).toEqual([
      [
        'external_api',
        { tool: 'send_mail', input: { to: 'a@b' }, risk: 'medium', effects: 'external', why: 'This needs a mail.' },
      ],
      [
        'file_edit',
        {
          tool: 'write_file',
          input: { path: 'a.txt', content: 'A' },
          risk: 'medium',
          effects: 'files',
          why: 'This needs a mail.',
        },
      ],
    ]);
    task.answer('send_mail', { resolutionType: 'approve' });
    expect(await run(assignment)).toEqual({ kind: 'blocked', reason: 'approval_required:file_edit' });
    expect(world.runs).toEqual({});
    task.answer('write_file', { resolutionType: 'reject', rationale: 'Not that file.' });
    expect(await run(assignment)).toEqual({ kind: 'done', output: 'Sent.' });
    expect(world.runs).toEqual({ send_mail: 1 });
    expect(server.requests).toHaveLength(2);
    expect(server.requests[1]?.asked?.since).toMatchObject([
      { tool: 'send_mail', text: expect.stringContaining('a@b') },
      { tool: 'write_file', text: expect.stringContaining('denied this call. Not that file.') },
    ]);
  });

  it('[B18] gives an output that fits its schema, with tools and without', async () => {
    const schema = {
      type: 'object',
      properties: { ok: { type: 'boolean' } },
      required: ['ok'],
      additionalProperties: false,
    };
    const { run } = await given(request =>
      request.tools.length > 0
        ? request.turn === 1
          ? { calls: [write('a.txt', 'A')] }
          : { calls: [{ tool: 'final_answer', input: { ok: true } }] }
        : { text: '{"ok":false}' },
    );
    expect(await run({ tools, schema })).toEqual({ kind: 'done', output: { ok: true } });
    expect(server.requests[0]?.asked?.tools.at(-1)).toMatchObject({ name: 'final_answer' });
    const { requests } = server;
    await server.close();
    const { run: runBare } = await given([{ text: '{"ok":false}' }]);
    expect(await runBare({ tools: { allow: [] }, schema })).toEqual({ kind: 'done', output: { ok: false } });
    expect(server.requests[0]?.asked).toMatchObject({ wantsJson: true });
    expect(requests.every(request => request.refusal === undefined)).toBe(true);
  });

  it('[B18, B19] takes a list as an output, and corrects an answer that does not fit', async () => {
    const schema = { type: 'array', items: { type: 'integer' } };
    const { task, run } = await given([
      { calls: [{ tool: 'final_answer', input: { answer: ['one'] } }] },
      { text: 'The answer is 1 and 2.' },
      { calls: [{ tool: 'final_answer', input: { answer: [1, 2] } }] },
    ]);
    expect(await run({ tools, schema })).toEqual({ kind: 'done', output: [1, 2] });
    expect(server.requests[1]?.asked?.since[0]).toMatchObject({
      text: expect.stringContaining('does not fit the schema'),
    });
    expect(server.requests[2]?.asked?.since[0]).toMatchObject({ text: expect.stringContaining('Call final_answer') });
    expect(kindsOf(task.kept)).toContain('correction');
  });

  it.each([
    ['seconds', '7', 7_000],
    ['a date', 'Thu, 01 Jan 2026 00:00:09 GMT', 9_000],
    ['nothing', undefined, 1_000],
  ])('[B22, B25] a refusal for being busy that says %s is told to everybody, once', async (_, retryAfter, ms) => {
    const { task, run } = await given([{ status: 429, ...(retryAfter && { retryAfter }) }]);
    expect(await run()).toEqual({
      kind: 'failed',
      error: { class: 'retryable', code: 'rate_limit', message: expect.stringContaining('429'), retryAfterMs: ms },
    });
    const error = { code: 'rate_limit', message: expect.stringContaining('429') };
    expect(task.released).toEqual([{ kind: 'refused', retryAfterMs: ms, error, windows: [] }]);
    expect(server.requests).toHaveLength(1);
  });

  it.each<readonly [string, ModelReply, string]>([
    ['500', { status: 500 }, 'provider-failed'],
    ['503', { status: 503 }, 'provider-failed'],
    [
      'a stream that is cut',
      { text: 'hello there, this is long', fault: { kind: 'cut', after: 2 } },
      '(answer-cut-off|provider-failed)',
    ],
    [
      'a stream that ends early',
      { text: 'hello there, this is long', fault: { kind: 'ended', after: 2 } },
      'answer-cut-off',
    ],
    [
      'an error in a stream',
      { text: 'hello there, this is long', fault: { kind: 'error', after: 2 } },
      '(provider-failed|rate_limit)',
    ],
    [
      'broken JSON',
      { text: 'hello there, this is long', fault: { kind: 'malformed' } },
      '(answer-malformed|provider-failed)',
    ],
  ])('[B23] %s may pass: the task may be retried', async (_, reply, code) => {
    const { task, run } = await given([reply, { text: 'Fine.' }]);
    const outcome = await run();
    expect(outcome).toMatchObject({ kind: 'failed', error: { class: 'retryable', code: expect.stringMatching(code) } });
    expect(kindsOf(task.kept)).toEqual(['begun']);
    expect(await run({ attempt: 2 })).toEqual({ kind: 'done', output: 'Fine.' });
    expect(task.released).toMatchObject([{}, { kind: 'answered' }]);
  });

  const [failing, answered] = [{ kind: 'failed' } as const, { kind: 'answered' } as const];
  it.each<readonly [string, ModelReply, RegExp, typeof failing | typeof answered | undefined]>([
    ['401', { status: 401, message: `no such key: ${KEY}` }, /_API_KEY/, failing],
    ['400', { status: 400 }, /history limit/, answered],
    ['404', { status: 404 }, /name of the model/, undefined],
    ['an answer that is too long', { text: 'and so on', finish: 'length' }, /shorter/, answered],
    ['an answer that is withheld', { text: 'and', finish: 'refused' }, /refused/, answered],
  ])('[B3, B23, B32] %s is final, and says what to do', async (_, reply, advice, report) => {
    const { task, run } = await given([reply]);
    const outcome = await run();
    expect(outcome).toMatchObject({
      kind: 'failed',
      error: { class: 'terminal', message: expect.stringMatching(advice) },
    });
    expect(task.released).toMatchObject([report]);
    expect(JSON.stringify([outcome, task.released])).not.toContain(KEY);
  });

  it('[B23] gives up on a provider that says nothing for too long', async () => {
    const { run, timers } = await given([{ text: 'hello there, this is long', fault: { kind: 'stall', after: 2 } }]);
    const running = run();
    await server.holding();
    timers.fire();
    expect(await running).toMatchObject({ kind: 'failed', error: { class: 'retryable', code: 'provider-stalled' } });
    expect(timers.waiting).toBe(0);
  });

  it.each(['stall', 'slow-start'] as const)('[B24] ends at once when it is canceled during a %s', async kind => {
    const { task, runner } = await given([{ text: 'hello there, this is long', fault: { kind, after: 2 } }]);
    const session = task.session();
    const running = runner.run(assignmentOf({ model }), session);
    await server.holding();
    session.abort();
    expect(await running).toMatchObject({ kind: 'failed', error: { code: 'canceled' } });
    expect(task.released).toEqual([undefined]);
  });

  it('[B26, B27] asks before every call, and reports what each answer cost', async () => {
    const usage = { input: 1_000, output: 100, cached: 400 };
    const { task, run } = await given([
      { calls: [read('a.txt')], usage },
      { text: 'Done.', usage },
    ]);
    expect(await run({ tools })).toMatchObject({ kind: 'done' });
    const [provider, name] = model.split(':');
    const answered = { kind: 'answered', windows: [] };
    expect(task.admitted).toEqual([
      { provider, model: name },
      { provider, model: name },
    ]);
    expect(task.released).toEqual([answered, answered]);
    const costs = { anthropic: 2_240, 'openai-responses': 2_240, 'openai-chat': 1_800, google: 2_400 };
    const record = { provider, model: name, inputTokens: 1_000, outputTokens: 100, cachedTokens: 400, wallMs: 0 };
    expect([...task.spent.values()]).toEqual([
      { call: `${assignmentOf().task}/1`, ...record, toolCalls: 1, costMicroUsd: costs[vendor] },
      { call: `${assignmentOf().task}/2`, ...record, toolCalls: 0, costMicroUsd: costs[vendor] },
    ]);
  });

  it('[B27] reports what an answer cost that never arrived whole', async () => {
    const text = Array.from({ length: 40 }, (_, index) => `word ${index} `);
    const { task, run } = await given([{ text, fault: { kind: 'ended', after: 20 } }, { text: 'Done.' }]);
    expect(await run()).toMatchObject({ kind: 'failed', error: { class: 'retryable' } });
    expect(await run({ attempt: 2 })).toMatchObject({ kind: 'done' });
    const [failed, whole] = [...task.spent.values()];
    expect(task.spent.size).toBe(2);
    expect(failed?.call).toMatch(/\/failed\//);
    expect([failed?.inputTokens, failed?.outputTokens].every(tokens => (tokens ?? 0) > 10)).toBe(true);
    expect(whole?.call).toBe(`${assignmentOf().task}/1`);
  });

  it('[B3] shows its key to nobody', async () => {
    const { task, run } = await given([
      { text: `My key is ${KEY}.`, calls: [write('a.txt', KEY), { tool: 'send_mail', input: { to: KEY } }] },
      { status: 400, message: `your key ${KEY} is odd` },
    ]);
    const first = await run({ permissions: 'gated' });
    task.answer('send_mail', { resolutionType: 'approve' });
    task.answer('write_file', { resolutionType: 'approve' });
    const second = await run({ permissions: 'gated' });
    const questions: Json = [...task.questions.values()].map(question => question.proposal);
    const seen = JSON.stringify([
      first,
      second,
      task.kept,
      task.streamed.filter(one => one.kind !== 'token'),
      questions,
    ]);
    expect(seen).not.toContain(KEY);
    expect(seen).toContain('[redacted]');
  });

  it('[B30] leaves nothing with the provider', async () => {
    const { run } = await given([{ text: 'Done.' }]);
    await run();
    const body = server.requests[0]?.body as { store?: boolean };
    expect(body.store).toBe(vendor.startsWith('openai') ? false : undefined);
  });

  it('[B31] marks the end of what was sent, where a provider asks for it, to be read from its cache', async () => {
    const { run } = await given([{ calls: [read('a.txt')] }, { text: 'Done.' }]);
    await run({ tools });
    const body = server.requests[1]?.body as { system?: Json; messages?: readonly { content: readonly Json[] }[] };
    const marked = (value: Json | undefined) =>
      JSON.stringify(value ?? null).includes('"cache_control":{"type":"ephemeral"}');
    const last = body.messages?.at(-1)?.content;
    expect([marked(body.system), marked(last as Json)]).toEqual(vendor === 'anthropic' ? [true, true] : [false, false]);
  });
});
