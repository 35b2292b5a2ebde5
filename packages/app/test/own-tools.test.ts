import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Json, RunId } from '@signalbox/model';
import type { ModelReply } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { planText, type TestHost } from './support/open-host.ts';
import { openScriptedHome } from './support/open-scripted-home.ts';
import { until } from './support/until.ts';
import { temporaryFolder } from './temporary-folder.ts';

const approve = { resolutionType: 'approve', rationale: 'fine', actionKind: 'review' } as const;
const IMPORT = `import { tool } from 'signalbox';`;

/** A plan whose agent has the tool `mine`, and the names given. */
const withTool = (definition: string, more = '', before = '') =>
  planText(
    `<Agent id="agent" model="anthropic:claude-test" cwd="work" prompt="Do it." retries={0} tools={[mine, 'read_file']} ${more}
       onFinished={said => ctx.state.set('said', said)} />`,
    'z.object({ said: z.any() })',
    `${IMPORT}\n${before}\nconst mine = tool({ name: 'mine', description: 'Does it.', ${definition} });`,
  );

/** An agent that calls `mine` once, and then says what it got. */
const once = (input: Json): ModelReply[] => [
  { text: 'I call it.', calls: [{ tool: 'mine', input }] },
  { text: 'It is done.' },
];

async function endsOf(
  { store }: TestHost,
  run: RunId,
): Promise<readonly { status: string; output: { value: unknown } }[]> {
  const [task] = await store.tasks(run);
  const chunks = await store.stream(run, task?.id as never, 0, 500);
  return chunks.flatMap(({ kind, payload }) =>
    kind === 'message' && (payload as { kind: string }).kind === 'tool_ended' ? [payload as never] : [],
  );
}

async function told(script: ReturnType<typeof once>, source: string) {
  const folder = temporaryFolder();
  const home = await openScriptedHome(folder, script);
  const run = await home.start('plan', source);
  const end = await home.end(run);
  const [ended] = await endsOf(home, run);
  return { folder, home, run, end, ended, file: (name: string) => path.join(folder, 'work', name) };
}

describe('a tool of a plan', () => {
  it('[A1027] is offered with its schema, called in the plan with checked input, and its answer is given to the model', async () => {
    const { home, end, ended } = await told(
      once({ n: 4 }),
      withTool(
        `effects: 'none', input: z.object({ n: z.number().describe('how many') }), run: ({ n }) => ({ doubled: n * 2 })`,
      ),
    );
    expect(end).toMatchObject({ status: 'completed' });
    expect(ended).toMatchObject({ status: 'succeeded', output: { value: { doubled: 8 } } });
    const { tools: offered } = JSON.parse(JSON.stringify(home.server.requests[0]?.body ?? { tools: [] })) as {
      tools: { name: string; input_schema: object }[];
    };
    expect(offered.map(({ name }) => name).sort()).toEqual(['mine', 'read_file']);
    expect(offered.find(({ name }) => name === 'mine')?.input_schema).toMatchObject({
      properties: { n: { type: 'number', description: 'how many' } },
    });
  });

  it.each([
    ['an input that does not fit', { n: 'four' }, `n`, /n/],
    [
      'what the code throws, with its line',
      { n: 1 },
      `{ throw new RangeError('too few') }`,
      /RangeError: too few at plan\.tsx:\d+:\d+/,
    ],
    ['an output that does not fit', { n: 1 }, `'text'`, /returned what its output does not allow/],
    ['what is no plain data', { n: 1 }, `({ f() {} }) as never`, /returned what/],
  ])('[A1021] fails with %s, and the agent goes on', async (_, input, body, expected) => {
    const run = body.startsWith('{') ? body : `(${body})`;
    const { end, ended } = await told(
      once(input),
      withTool(`effects: 'none', input: z.object({ n: z.number() }), output: z.number(), run: ({ n }) => ${run}`),
    );
    expect(end).toMatchObject({ status: 'completed' });
    expect(ended?.status).toBe('failed');
    expect(String(ended?.output.value)).toMatch(expected);
  });

  it('[A1022] changes files through its call: what it wrote is undone when it fails', async () => {
    const write = `await files.write('a.txt', 'mine'); await files.mkdir('d'); if (n === 1) throw new Error('after that');`;
    const source = withTool(
      `effects: 'files', input: z.object({ n: z.number() }), run: async ({ n }, { files }) => { ${write} return await files.read('a.txt'); }`,
    );
    const failed = await told(once({ n: 1 }), source);
    expect(failed.ended?.status).toBe('failed');
    expect([existsSync(failed.file('a.txt')), existsSync(failed.file('d'))]).toEqual([false, false]);
    const worked = await told(once({ n: 2 }), source);
    expect(worked.ended).toMatchObject({ status: 'succeeded', output: { value: 'mine' } });
    const [call] = await worked.home.store.tasks(worked.run).then(async () => {
      const listed = await worked.home.host.checkpoints(worked.run);
      return listed.ok ? listed.value : [];
    });
    expect(await worked.home.host.undo(worked.run, call?.call as never, {} as never, 'ada')).toMatchObject({
      ok: true,
    });
    expect(existsSync(worked.file('a.txt'))).toBe(false);
  });

  it('[A1022] may change no files that it did not declare, and runs commands only with the effect `files`', async () => {
    const source = (effects: string, body: string) =>
      withTool(`effects: ${effects}, input: z.object({}), run: async (_, call) => { ${body} return null; }`);
    const reads = await told(once({}), source(`'read'`, `await call.files.write('a.txt', '');`));
    expect(String(reads.ended?.output.value)).toMatch(/not declared to change files/);
    const runs = await told(once({}), source(`'none'`, `await call.command(['true']);`));
    expect(String(runs.ended?.output.value)).toMatch(/must declare the effect "files"/);
    const escapes = await told(once({}), source(`'files'`, `await call.files.write('../out.txt', '');`));
    expect(escapes.ended?.status).toBe('failed');
    expect(existsSync(path.join(escapes.folder, 'out.txt'))).toBe(false);
  });

  it('[A1023] with effects outside waits for a person, and is called once', async () => {
    const folder = temporaryFolder();
    const marks = path.join(folder, 'marks');
    const home = await openScriptedHome(folder, once({ title: 'Broken' }), false);
    const source = withTool(
      `input: z.object({ title: z.string() }), run: ({ title }) => { appendFileSync(${JSON.stringify(marks)}, title + ';'); return 'T-1'; }`,
      '',
      `import { appendFileSync } from 'node:fs';`,
    );
    const run = await home.start('plan', source);
    expect(await home.end(run)).toMatchObject({ status: 'waiting' });
    expect(existsSync(marks)).toBe(false);
    const [asked] = await home.store.decisions({ run });
    expect(asked?.decision.proposal).toMatchObject({
      tool: 'mine',
      input: { title: 'Broken' },
      risk: 'high',
      effects: 'external',
    });
    await home.host.answer(asked?.decision.id as never, { resolution: approve }, 'ada');
    await home.host.resume(run);
    expect(await home.end(run)).toMatchObject({ status: 'completed' });
    expect(readFileSync(marks, 'utf8')).toBe('Broken;');
  });

  it('[A1024] names what it did past its call, which is not undone', async () => {
    const folder = temporaryFolder();
    const file = path.join(folder, 'past.txt');
    const home = await openScriptedHome(folder, once({}));
    const run = await home.start(
      'plan',
      withTool(
        `effects: 'files', input: z.object({}), run: async () => { await null; writeFileSync(${JSON.stringify(file)}, 'x'); throw new Error('no'); }`,
        '',
        `import { writeFileSync } from 'node:fs';`,
      ),
    );
    await home.end(run);
    const [ended] = await endsOf(home, run);
    expect(String(ended?.output.value)).toMatch(
      /It also used fs\.writeFileSync, past its call: what that did is not undone/,
    );
    expect(existsSync(file)).toBe(true);
  });

  it('[A1025] that ends its thread fails its run, and nothing it wrote stays', async () => {
    const source = withTool(
      `effects: 'files', input: z.object({}), run: async (_, { files }) => { await files.write('a.txt', 'half'); process.exit(1); }`,
    );
    const { end, file } = await told(once({}), source);
    expect(end).toMatchObject({ status: 'failed', error: { code: 'thread-lost' } });
    // The rollback does not hold up the end of the run.
    await until(() => (existsSync(file('a.txt')) ? undefined : true));
  });

  it('[A1026] a name that nothing has is refused, with the one that was meant', async () => {
    const folder = temporaryFolder();
    const home = await openScriptedHome(folder, once({}));
    const run = await home.start(
      'plan',
      withTool(`effects: 'none', input: z.object({}), run: () => 1`).replace("'read_file'", "'mime'"),
    );
    expect(await home.end(run)).toMatchObject({
      status: 'failed',
      error: { message: expect.stringMatching(/"mime" that does not exist.*mine/) },
    });
  });
});

it('[P343] tool() refuses a name, description, schema or effect that cannot be', async () => {
  const { tool } = await import('@signalbox/plan');
  const z = await import('zod');
  const made = (more: object) => () =>
    tool({ name: 'mine', description: 'Does it.', input: z.object({}), run: () => null, ...more } as never);
  expect(made({})).not.toThrow();
  expect(made({ name: 'my tool' })).toThrow('letters, digits');
  expect(made({ name: 'read_file' })).toThrow('built-in tool');
  expect(made({ description: ' ' })).toThrow('needs a description');
  expect(made({ input: z.string() })).toThrow('must be an object');
  expect(made({ input: {} })).toThrow('must be a zod schema');
  expect(made({ effects: 'network' })).toThrow('none, read, files or external');
  expect(made({ effects: ['files', 'network'] })).toThrow('none, read, files or external');
});
