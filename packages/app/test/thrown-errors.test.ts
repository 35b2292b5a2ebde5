import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { codeFrame, type RunId, type ThrownPlace } from '@signalbox/model';
import { describe, expect, it, onTestFinished } from 'vitest';
import { snapshotOf } from '../src/contract-view/run-view.ts';
import { lineOfEvent } from '../src/logs/projections/log-line.ts';
import { readEditorUrl } from '../src/settings/editor-config.ts';
import { why } from '../src/why/why.ts';
import { openTestHost, planText, type TestHost } from './support/open-host.ts';
import { temporaryFolder } from './temporary-folder.ts';

const DEEP = `export function outer(given: { missing?: string }): number {
  return inner(given);
}

function inner(given: { missing?: string }): number {
  return given.missing!.length;
}
`;
const IMPORT = `import { outer } from './deep.ts';`;
const STATE = `z.object({ n: z.number().max(5).default(0), m: z.number().default(0) })`;

async function opened(): Promise<{ readonly test: TestHost; readonly folder: string }> {
  const folder = temporaryFolder();
  const test = await openTestHost(folder);
  onTestFinished(() => test.close());
  writeFileSync(path.join(folder, 'deep.ts'), DEEP);
  return { test, folder };
}

/** The place in a run's error: its file by name, its line, and the code at it. */
async function placeOf(test: TestHost, run: RunId): Promise<object | undefined> {
  await test.end(run);
  const { thrown } = (await test.store.run(run))?.error ?? {};
  return thrown === undefined ? undefined : shown(thrown);
}

function shown(thrown: ThrownPlace) {
  const { file, line, element, reads = [] } = thrown;
  const [, code = ''] =
    codeFrame(thrown)
      .map(row => row.split(' | '))
      .find(([mark]) => mark?.startsWith('>')) ?? [];
  return { file: path.basename(file), line, code: code.trim(), in: element?.kind, id: element?.id, reads };
}

const deep = { file: 'deep.ts', line: 6, code: 'return given.missing!.length;' };
const bodies: readonly (readonly [string, string, object])[] = [
  [
    'a task, two calls deep and after a wait',
    `<Task id="t" retries={0} run={async () => { ctx.state.get('n'); await null; return outer({}); }} />`,
    { ...deep, in: 'task', id: 't', reads: ['n'] },
  ],
  [
    'a handler',
    `<Task id="t" run={() => 1} onFinished={() => void ctx.state.set('n', ctx.state.get('m') + outer({}))} />`,
    { ...deep, in: 'task', id: 't', reads: ['m'] },
  ],
  [
    'an effect',
    `<Task id="t" run={() => 1} />\n<Effect id="e" run={() => void outer({})} />`,
    { ...deep, in: 'effect', id: 'e', reads: [] },
  ],
  [
    'a condition',
    `<If condition={() => ctx.state.get('n') === outer({})}><Task id="t" run={() => 1} /></If>`,
    { ...deep, in: 'If', id: undefined, reads: ['n'] },
  ],
  ['a component', `<Broken />`, { ...deep, in: 'Broken', id: undefined, reads: [] }],
  ['the body of the plan', `{ctx.state.get('m') + outer({})}`, { ...deep, in: undefined, id: undefined, reads: ['m'] }],
  [
    'a write in a render',
    `{ctx.state.set('n', 1)}`,
    { file: 'plan.tsx', line: 7, code: "{ctx.state.set('n', 1)}", in: undefined, id: undefined, reads: [] },
  ],
];

describe('an error of a plan', () => {
  it.each(bodies)('[P325] names file, line, code, element and reads: %s', async (_, body, expected) => {
    const { test } = await opened();
    const source = planText(`\n${body}\n`, STATE, `import { Effect } from 'signalbox';\n${IMPORT}`)
      .replace('export default', 'const Broken = () => outer({});\nexport default')
      .trimStart();
    // The body begins on the seventh line.
    const run = await test.start('plan', source);
    expect(await placeOf(test, run)).toEqual(expected);
  });

  it('[P325] has the calls that led there, without those of the engine', async () => {
    const { test, folder } = await opened();
    const run = await test.start('plan', planText('<Task id="t" retries={0} run={() => outer({})} />', STATE, IMPORT));
    await test.end(run);
    const { stack } = (await test.store.run(run))?.error?.thrown ?? {};
    expect(stack?.map(call => call.replaceAll(`${folder}/`, ''))).toEqual([
      expect.stringMatching(/^inner \(deep\.ts:6:\d+\)$/),
      expect.stringMatching(/^outer \(deep\.ts:2:\d+\)$/),
      expect.stringMatching(/plan\.tsx:5:\d+\)?$/),
    ]);
  });

  it('[P326] names the element of work that ran out of time or whose output does not fit', async () => {
    const { test } = await opened();
    const late = `<Task id="late" retries={0} timeoutMs={20} run={() => new Promise(() => {})} />`;
    const run = await test.start('late', planText(`\n${late}`));
    expect(await placeOf(test, run)).toMatchObject({ file: 'late.tsx', line: 6, in: 'task', id: 'late' });
  });

  it('[P326] of a sub-plan has the place in the child', async () => {
    const { test } = await opened();
    const child = `const child = definePlan({ name: 'child', render: () => <Task id="c" retries={0} run={() => outer({})} /> });`;
    const run = await test.start('parent', planText('<SubPlan id="s" plan={child} />', STATE, `${IMPORT}\n${child}`));
    expect(await placeOf(test, run)).toMatchObject({ ...deep, in: 'task', id: 'c' });
  });

  it('[P327] shows no secret of the file, and no lines at all where removing one moves them', async () => {
    const { test } = await opened();
    const token = `ghp_${'a1B2'.repeat(9)}`;
    const source = planText(
      `\n<Task id="t" retries={0} run={() => { const token = '${token}'; throw new Error(token); }} />`,
    );
    const run = await test.start('secret', source);
    await test.end(run);
    const error = (await test.store.run(run))?.error;
    expect(error?.thrown?.code?.text).toContain('const token');
    expect(JSON.stringify(error)).not.toContain(token);
    const key = [
      '-----BEGIN PRIVATE KEY-----',
      'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC'.repeat(3),
      '-----END PRIVATE KEY-----',
    ];
    const spread = planText(
      '\n<Task id="t" retries={0} run={() => { throw new Error(key); }} />',
      'z.object({})',
      `const key = \`${key.join('\n')}\`;`,
    );
    const second = await test.start('spread', spread);
    await test.end(second);
    const failed = (await test.store.run(second))?.error;
    expect(failed?.thrown).toMatchObject({ line: 8 });
    expect(failed?.thrown?.code).toBeUndefined();
    expect(JSON.stringify(failed)).not.toContain('MIIEvQ');
  });

  it('[P328] reports all problems of an input at once, and those of a thrown schema error as text', async () => {
    const { test, folder } = await opened();
    const file = path.join(folder, 'input.tsx');
    writeFileSync(file, planText('').replace('z.any()', 'z.object({ a: z.string(), b: z.number() })'));
    const refused = await test.host.start({ file, anyFile: true, input: {} });
    expect(refused.ok ? '' : refused.error.message).toMatch(/a: .*; b: /);
    const parse = `<Task id="t" retries={0} run={() => z.object({ a: z.string(), b: z.number() }).parse({})} />`;
    const run = await test.start('parse', planText(parse));
    expect(await test.end(run)).toMatchObject({
      error: { message: expect.stringMatching(/^Node t failed: ZodError: a: .*; b: [^[{]*$/) },
    });
  });

  it('[P329] of a file that is missing asks for the path, and of an import for the import', async () => {
    const { test, folder } = await opened();
    const missing = await test.host.start({ file: path.join(folder, 'none.tsx'), anyFile: true, input: {} });
    expect(missing.ok ? '' : missing.error.suggestion).toBe('Check the path of the plan.');
    const file = path.join(folder, 'lost.tsx');
    writeFileSync(file, planText('', 'z.object({})', `import './nowhere.ts';`));
    const lost = await test.host.start({ file, anyFile: true, input: {} });
    expect(lost.ok ? '' : lost.error.suggestion).toMatch(/^Correct the import/);
  });

  it('[A1000] shows its place in why, in the log, in the contract and in the summary of the run', async () => {
    const { test } = await opened();
    const run = await test.start('plan', planText('<Task id="t" retries={0} run={() => outer({})} />', STATE, IMPORT));
    await test.end(run);
    const clock = { now: () => Date.parse('2100-01-01T00:00:00.000Z') };
    const answers = await why(test.store, run, 't', clock);
    expect(answers.ok && answers.value.find(({ topic }) => topic === 'attempt')?.thrown).toMatchObject({ line: 6 });
    const events = await test.store.events(run, 0, 100);
    const ended = events.find(({ event }) => event.type === 'task.ended');
    if (ended === undefined) throw new Error('the task did not end');
    expect(lineOfEvent(ended.event, run, value => value).message).toMatch(/deep\.ts:6:\d+$/);
    const snapshot = await snapshotOf(test.host, run);
    expect(snapshot?.record.error?.thrown).toMatchObject({ line: 6 });
  });

  it('[A1001] is linked to the editor of the configuration, and to none that would run code in a browser', async () => {
    const folder = temporaryFolder();
    mkdirSync(folder, { recursive: true });
    const configured = (editor: unknown) => {
      writeFileSync(path.join(folder, 'config.json'), JSON.stringify({ editor }));
      return readEditorUrl(folder);
    };
    expect(readEditorUrl(folder)).toBe('vscode://file/{file}:{line}:{column}');
    expect(configured({ url: 'idea://open?file={file}&line={line}' })).toBe('idea://open?file={file}&line={line}');
    expect(configured({ url: '' })).toBe('');
    for (const url of ['javascript:alert(1)//{file}', 'data:{file}', 'vscode://file', 7])
      expect(configured({ url })).toBe('');
  });
});
