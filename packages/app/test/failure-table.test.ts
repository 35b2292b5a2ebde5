import type { Resolution, RunId } from '@signalbox/model';
import type { AgentRunner } from '@signalbox/runs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sampled } from '../../../test/sized.ts';
import { why } from '../src/why/why.ts';
import { openTestHost, planText, type TestHost } from './support/open-host.ts';
import { until } from './support/until.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** An agent that does what its prompt says. */
const agents: AgentRunner = {
  async run({ prompt }, { signal }) {
    const failed = (kind: 'retryable' | 'terminal') =>
      ({ kind: 'failed', error: { class: kind, code: 'said', message: prompt } }) as const;
    if (prompt === 'plain') throw new TypeError('no');
    if (prompt === 'deaf') return new Promise(() => {});
    if (prompt === 'waits') return new Promise(end => signal.addEventListener('abort', () => end(failed('terminal'))));
    return failed(prompt === 'Retryable' ? 'retryable' : 'terminal');
  },
};

const folder = temporaryFolder();
let test: TestHost;
beforeAll(async () => {
  test = await openTestHost(folder, { agents, threads: { threads: 1 } });
});
afterAll(() => test.close());

const RETRY = `retry={{ attempts: 2, backoff: 1 }}`;
const EXTRA = `import { Effect, Retryable, Terminal } from 'signalbox';`;
const PLAIN = `throw new TypeError('no');`;
const RETRYABLE = `throw new Retryable('later', { after: 1 });`;
const TERMINAL = `throw new Terminal('never');`;
/** A promise that nobody holds rejects while the work goes on. */
const LATE = `Promise.reject(new RangeError('late'));`;
const EXIT = 'process.exit(0);';
const OUTSIDE = 'effects="external"';
const HANG = 'await new Promise(() => {});';
const LISTENS = `await new Promise((_, no) => signal.addEventListener('abort', () => no(signal.reason)));`;

const task = (code: string, more = '') =>
  `<Task id="t" ${RETRY} ${more} run={async ({ signal }) => { ${code} return 1; }} />`;
const agent = (prompt: string, more = '', retry = RETRY) =>
  `<Agent id="t" model="m" ${retry} ${more} prompt="${prompt}" />`;
const handler = (code: string) => `<Task id="t" run={() => 1} onFinished={() => { ${code} }} />`;
const effect = (code: string) => `<Task id="w" run={() => 1} /><Effect id="t" run={() => { ${code} }} />`;
const render = (code: string) => `{(() => { ${code} return null; })()}<Task id="t" run={() => 1} />`;
const below = (code: string, more = '') =>
  `<SubPlan id="t" ${RETRY} ${more} plan={definePlan({ name: 'c', render: () => <Task id="c" retries={0} run={async () => { ${code} return 1; }} /> })} />`;
const around = (body: string) =>
  `<SubPlan id="t" ${RETRY} plan={definePlan({ name: 'c', render: () => <>${body.replaceAll('id="t"', 'id="c"')}</> })} />`;
const deeper = (code: string) => around(below(code));
const human = (more = '') => `<Human id="t" prompt="Go on?" ${more} />`;
/** A person's answer runs the plan's code where it is read: its schema, and `onFinished`. */
const answered = (code: string) => human(`onFinished={() => { ${code} }}`);

interface Came {
  /** Of the node `t`. */
  readonly attempts: number | 'any';
  readonly node: string | undefined;
  readonly run: string | 'any';
  /** What `why` says of the run, or of the node where the run goes on. */
  readonly why: RegExp;
  /** Whether a line of the plan is named. */
  readonly line: boolean;
}

const failed = (attempts: number, why: RegExp, line = true): Came => ({
  ...{ attempts, why, line },
  ...{ node: 'failed', run: 'failed' },
});
/** A render that throws leaves no frame, and so no node. */
const unrendered = (why: RegExp): Came => ({ attempts: 0, node: undefined, run: 'failed', why, line: true });
const canceled = (why: RegExp): Came => ({ attempts: 1, node: 'canceled', run: 'failed', why, line: false });
/** The code took its thread with it: the run has failed where it was alone there. */
const lost = (why: RegExp, attempts: Came['attempts'], node: string | undefined): Came => ({
  ...{ attempts, node, why },
  ...{ run: 'failed', line: true },
});
/** What rejects after its code has returned may come before or after the commit that ends the run. */
const lateOrNot: Came = {
  attempts: 'any',
  node: 'any',
  run: 'any',
  why: /thread was lost: late|is completed/,
  line: false,
};

type Deed = (run: RunId) => Promise<unknown>;
const cancel: Deed = async run => {
  const isStarted = async () =>
    (await test.store.events(run, 0, 100)).some(({ event }) => event.type === 'task.started') || undefined;
  await until(isStarted);
  expect(await test.host.act(run, { kind: 'cancel', node: 't' }, 'operator')).toMatchObject({ ok: true });
};
const answerWith =
  (resolution: Resolution): Deed =>
  async run => {
    await test.end(run);
    const [asked] = await test.store.decisions({ run });
    expect(await test.host.answer(asked?.decision.id as never, { resolution }, 'ada')).toMatchObject({ ok: true });
    await test.host.resume(run);
  };
const approve = answerWith({ resolutionType: 'approve', rationale: '', actionKind: 'review' });
const deny = answerWith({ resolutionType: 'reject', rationale: 'not today', actionKind: 'review' });

type Cell = readonly [where: string, what: string, body: string, came: Came, deed?: Deed];
const table: readonly Cell[] = [
  ['task', 'throws', task(PLAIN), failed(2, /TypeError: no/)],
  ['task', 'throws Retryable', task(RETRYABLE), failed(2, /later/)],
  ['task', 'throws Terminal', task(TERMINAL), failed(1, /never/)],
  ['task', 'times out', task(LISTENS, 'timeout={30}'), failed(2, /no end after 30 ms(?!,)/)],
  ['task', 'times out and is deaf', task(HANG, 'timeout={30}'), failed(2, /no end after 30 ms, nor 500 ms after/)],
  ['task', 'is canceled', task(LISTENS), canceled(/operator canceled it/), cancel],
  ['task', 'is canceled and is deaf', task(HANG), canceled(/did not end within 500 ms/), cancel],
  ['task', 'rejects late', task(`${LATE} ${HANG}`), lost(/lost: late[\s\S]*task 't' was under way/, 1, 'idle')],
  [
    'task',
    'exits the thread',
    task(`${EXIT} ${HANG}`),
    lost(/ended by itself[\s\S]*task 't' was under way/, 1, 'idle'),
  ],
  ['task with effects outside', 'throws', task(PLAIN, OUTSIDE), failed(1, /TypeError: no/)],
  ['task with effects outside', 'throws Retryable', task(RETRYABLE, OUTSIDE), failed(2, /later/)],
  ['task with effects outside', 'times out', task(LISTENS, `timeout={30} ${OUTSIDE}`), failed(1, /no end after 30 ms/)],
  ['task with effects outside', 'is canceled and is deaf', task(HANG, OUTSIDE), canceled(/did not end/), cancel],
  ['agent', 'throws', agent('plain'), failed(1, /TypeError: no/)],
  ['agent', 'throws Retryable', agent('Retryable'), failed(2, /Retryable/, false)],
  ['agent', 'throws Terminal', agent('Terminal'), failed(1, /Terminal/, false)],
  ['agent', 'times out', agent('waits', 'timeout={30}'), failed(2, /no end after 30 ms(?!,)/)],
  ['agent', 'times out and is deaf', agent('deaf', 'timeout={30} retries={0}', ''), failed(1, /nor 5000 ms after/)],
  ['agent', 'is canceled', agent('waits'), canceled(/operator canceled it/), cancel],
  ['agent', 'is canceled and is deaf', agent('deaf'), canceled(/did not end within 5000 ms/), cancel],
  ['handler', 'throws', handler(PLAIN), failed(1, /onFinished.*no/)],
  ['handler', 'throws Retryable', handler(RETRYABLE), failed(1, /onFinished.*later/)],
  ['handler', 'throws Terminal', handler(TERMINAL), failed(1, /onFinished.*never/)],
  ['handler', 'rejects late', handler(LATE), lateOrNot],
  ['handler', 'exits the thread', handler(EXIT), lost(/ended by itself/, 1, 'idle')],
  ['effect', 'throws', effect(PLAIN), failed(0, /TypeError: no/)],
  ['effect', 'throws Retryable', effect(RETRYABLE), failed(0, /later/)],
  ['effect', 'throws Terminal', effect(TERMINAL), failed(0, /never/)],
  ['effect', 'rejects late', effect(LATE), lateOrNot],
  ['effect', 'exits the thread', effect(EXIT), lost(/ended by itself/, 0, 'idle')],
  ['render', 'throws', render(PLAIN), unrendered(/TypeError: no/)],
  ['render', 'throws Retryable', render(RETRYABLE), unrendered(/later/)],
  ['render', 'throws Terminal', render(TERMINAL), unrendered(/never/)],
  ['render', 'rejects late', render(LATE), lateOrNot],
  ['render', 'exits the thread', render(EXIT), lost(/ended by itself/, 0, undefined)],
  ['sub-plan', 'throws', below(PLAIN), failed(2, /TypeError: no/)],
  ['sub-plan', 'throws Retryable', below(RETRYABLE), failed(2, /later/)],
  ['sub-plan', 'throws Terminal', below(TERMINAL), failed(1, /never/)],
  ['sub-plan', 'throws Terminal two levels down', deeper(TERMINAL), failed(1, /never/)],
  ['sub-plan', 'throws Terminal in a handler', around(handler(TERMINAL)), failed(1, /never/)],
  ['sub-plan', 'throws Terminal in its render', around(render(TERMINAL)), failed(1, /never/)],
  ['sub-plan', 'throws in its render', around(render(PLAIN)), failed(2, /TypeError: no/)],
  ['sub-plan', 'times out', below(HANG, 'timeout={200}'), failed(2, /no end after 200 ms(?!,)/)],
  ['sub-plan', 'is canceled', below(HANG), canceled(/operator canceled it/), cancel],
  ['sub-plan', 'rejects late', below(`${LATE} ${HANG}`), lost(/lost: late/, 1, 'idle')],
  ['sub-plan', 'exits the thread', below(`${EXIT} ${HANG}`), lost(/ended by itself/, 1, 'idle')],
  ['human', 'throws', answered(PLAIN), failed(2, /onFinished.*no/), approve],
  ['human', 'throws Retryable', answered(RETRYABLE), failed(2, /onFinished.*later/), approve],
  ['human', 'throws Terminal', answered(TERMINAL), failed(2, /onFinished.*never/), approve],
  ['human', 'is denied', human(), { ...failed(2, /not today/, false), run: 'stopped' }, deny],
  [
    'human',
    'has a timeout, which hurries nobody',
    human('timeout={30}'),
    { attempts: 1, node: 'blocked', run: 'waiting', why: /waiting for a person/, line: false },
  ],
  ['human', 'is canceled', human(), canceled(/operator canceled it/), cancel],
  ['human', 'rejects late', answered(LATE), lateOrNot, approve],
  ['human', 'exits the thread', answered(EXIT), lost(/ended by itself/, 'any', 'idle'), approve],
];

const clock = { now: () => Date.parse('2100-01-01T00:00:00.000Z') };
const cells = sampled(table, 10).map(([where, what, body, came, deed]) => ({ where, what, body, came, deed }));

it.each(cells)('[P337] $where: $what', async ({ where, what, body, came, deed }) => {
  const name = `${where} ${what}`.replaceAll(/\W/g, '-');
  const run = await test.start(name, planText(`\n${body}`, 'z.object({})', EXTRA));
  await deed?.(run);
  await test.end(run);
  const record = await test.store.run(run);
  const events = (await test.store.events(run, 0, 1000)).map(({ event }) => event);
  const attempts = events.filter(event => event.type === 'task.started' && event.node === 't').length;
  const row = await test.store.valueAt(run, 'status', 't', record?.frames ?? 0);
  const ofRun = await why(test.store, run, undefined, clock);
  const { status: node } = (row ?? {}) as { readonly status?: string };
  expect({ attempts, node, run: record?.status, line: record?.error?.thrown !== undefined }).toEqual({
    attempts: came.attempts === 'any' ? attempts : came.attempts,
    node: came.node === 'any' ? node : came.node,
    run: came.run === 'any' ? record?.status : came.run,
    line: came.run === 'any' ? record?.status === 'failed' : came.line,
  });
  expect(ofRun.ok ? ofRun.value.map(({ text }) => text).join('\n') : '').toMatch(came.why);
});

it('[P338] no other run is touched by code that ends its thread', async () => {
  const quiet = await test.start(
    'quiet',
    planText('<Task id="q" run={() => new Promise(end => setTimeout(end, 50))} />'),
  );
  const gone = await test.start('gone', planText(`\n${task(`${EXIT} ${HANG}`)}`, 'z.object({})', EXTRA));
  expect(await test.end(gone)).toMatchObject({ status: 'failed' });
  expect(await test.end(quiet)).toMatchObject({ status: 'completed' });
});
