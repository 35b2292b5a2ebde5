import type { RunId } from '@signalbox/model';
import type { AgentRunner } from '@signalbox/runs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { why } from '../src/why/why.ts';
import { openTestHost, planText, type TestHost } from './support/open-host.ts';
import { until } from './support/until.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** An agent that ends as its prompt says. */
const agents: AgentRunner = {
  async run({ prompt }, { signal }) {
    const failed = (kind: 'retryable' | 'terminal') =>
      ({ kind: 'failed', error: { class: kind, code: 'said', message: prompt } }) as const;
    if (prompt === 'plain') throw new TypeError('no');
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
const throws = {
  plain: `throw new TypeError('no');`,
  Retryable: `throw new Retryable('later', { after: 1 });`,
  Terminal: `throw new Terminal('never');`,
} as const;
/** A promise that nobody holds rejects while the work goes on. */
const LATE = `Promise.reject(new RangeError('late'));`;
const EXIT = 'process.exit(0);';
const HANG = 'await new Promise(() => {});';

const task = (code: string, more = '') => `<Task id="t" ${RETRY} ${more} run={async () => { ${code} return 1; }} />`;
const agent = (prompt: string, more = '') => `<Agent id="t" model="m" ${RETRY} ${more} prompt="${prompt}" />`;
const handler = (code: string) => `<Task id="t" run={() => 1} onFinished={() => { ${code} }} />`;
const effect = (code: string) => `<Task id="w" run={() => 1} /><Effect id="t" run={() => { ${code} }} />`;
const render = (code: string) => `{(() => { ${code} return null; })()}<Task id="t" run={() => 1} />`;
const below = (code: string, more = '') =>
  `<SubPlan id="t" ${RETRY} ${more} plan={definePlan({ name: 'c', render: () => <Task id="c" retries={0} run={async () => { ${code} return 1; }} /> })} />`;
const human = (more = '') => `<Human id="t" prompt="Go on?" ${more} />`;

interface Came {
  /** Of the node `t`. */
  readonly attempts: number;
  readonly node: string | undefined;
  readonly run: string;
  /** What `why` says of the run's end. */
  readonly why: RegExp;
  /** Whether a line of the plan is named. */
  readonly line: boolean;
}

const failed = (attempts: number, why: RegExp, line = true): Came => ({
  attempts,
  node: 'failed',
  run: 'failed',
  why,
  line,
});
/** A render that throws leaves no frame, and so no node. */
const unrendered = (why: RegExp): Came => ({ attempts: 0, node: undefined, run: 'failed', why, line: true });
/** The thread took the work with it: the run rests, and its work starts again when it is resumed. */
const lost: Came = { attempts: 1, node: 'idle', run: 'paused', why: /paused/, line: false };

type Deed = (run: RunId) => Promise<unknown>;
const begun: Deed = run =>
  until(
    async () => (await test.store.events(run, 0, 100)).some(({ event }) => event.type === 'task.started') || undefined,
  );
const cancel: Deed = async run => {
  await begun(run);
  await test.host.act(run, { kind: 'cancel', node: 't' }, 'operator');
};

const table: readonly (readonly [where: string, what: string, body: string, came: Came, deed?: Deed])[] = [
  ['task', 'plain', task(throws.plain), failed(2, /TypeError: no/)],
  ['task', 'Retryable', task(throws.Retryable), failed(2, /later/)],
  ['task', 'Terminal', task(throws.Terminal), failed(1, /never/)],
  ['task', 'times out', task(HANG, 'timeout={30}'), failed(2, /no end after 30 ms/)],
  ['task', 'plain, with effects outside', task(throws.plain, 'effects="external"'), failed(1, /TypeError: no/)],
  ['task', 'Retryable, with effects outside', task(throws.Retryable, 'effects="external"'), failed(2, /later/)],
  ['agent', 'plain', agent('plain'), failed(1, /no/, false)],
  ['agent', 'Retryable', agent('Retryable'), failed(2, /Retryable/, false)],
  ['agent', 'Terminal', agent('Terminal'), failed(1, /Terminal/, false)],
  ['agent', 'times out', agent('waits', 'timeout={30}'), failed(2, /no end after 30 ms/)],
  ['handler', 'plain', handler(throws.plain), failed(1, /onFinished.*no/)],
  ['handler', 'Retryable', handler(throws.Retryable), failed(1, /onFinished.*later/)],
  ['handler', 'Terminal', handler(throws.Terminal), failed(1, /onFinished.*never/)],
  ['effect', 'plain', effect(throws.plain), { ...failed(0, /TypeError: no/) }],
  ['effect', 'Retryable', effect(throws.Retryable), { ...failed(0, /later/) }],
  ['effect', 'Terminal', effect(throws.Terminal), { ...failed(0, /never/) }],
  ['render', 'plain', render(throws.plain), unrendered(/TypeError: no/)],
  ['render', 'Retryable', render(throws.Retryable), unrendered(/later/)],
  ['render', 'Terminal', render(throws.Terminal), unrendered(/never/)],
  ['sub-plan', 'plain', below(throws.plain), failed(2, /TypeError: no/)],
  ['sub-plan', 'Terminal', below(throws.Terminal), failed(2, /never/)],
  ['sub-plan', 'times out', below(HANG, 'timeout={200}'), failed(2, /no end after 200 ms/)],
  [
    'task',
    'is cancelled',
    task(HANG),
    { attempts: 1, node: 'canceled', run: 'failed', why: /canceled/, line: false },
    cancel,
  ],
  [
    'agent',
    'is cancelled',
    agent('waits'),
    { attempts: 1, node: 'canceled', run: 'failed', why: /canceled/, line: false },
    cancel,
  ],
  [
    'sub-plan',
    'is cancelled',
    below(HANG),
    { attempts: 1, node: 'canceled', run: 'failed', why: /canceled/, line: false },
    cancel,
  ],
  [
    'human',
    'times out',
    human('timeout={30} retries={0}'),
    { attempts: 1, node: 'blocked', run: 'waiting', why: /Go on/, line: false },
  ],
];

const cells = table.map(([where, what, body, came, deed]) => ({ where, what, body, came, deed }));

it.each(cells.map((cell, index) => ({ ...cell, index })))(
  '[P337] $where: $what',
  async ({ index, body, came, deed }) => {
    const run = await test.start(`cell-${index}`, planText(`\n${body}`, 'z.object({})', EXTRA));
    await deed?.(run);
    await test.end(run);
    const record = await test.store.run(run);
    const frames = record?.frames ?? 0;
    const events = (await test.store.events(run, 0, 1000)).map(({ event }) => event);
    const attempts = events.filter(event => event.type === 'task.started' && event.node === 't').length;
    const row = (await test.store.valueAt(run, 'status', 't', frames)) as { readonly status?: string } | undefined;
    const answers = await why(test.store, run, undefined, { now: () => Date.parse('2100-01-01T00:00:00.000Z') });
    const told = answers.ok ? answers.value.map(({ text }) => text).join('\n') : '';
    const line = record?.error?.thrown !== undefined;
    expect({ attempts, node: row?.status, run: record?.status, line }).toEqual({
      attempts: came.attempts,
      node: came.node,
      run: came.run,
      line: came.line,
    });
    expect(told).toMatch(came.why);
  },
);

it.each([
  ['task', 'rejects late', task(`${LATE} ${HANG}`)],
  ['task', 'exits the thread', task(`${EXIT} ${HANG}`)],
  ['handler', 'exits the thread', handler(EXIT)],
  ['effect', 'exits the thread', effect(EXIT)],
])(
  '[P338] %s that %s: its run rests with everything committed before, and no other run is touched',
  async (_where, _what, body) => {
    const run = await test.start('gone', planText(`\n${body}`, 'z.object({})', EXTRA));
    await test.end(run);
    expect(lost.run).toBe('paused');
    expect((await test.store.run(run))?.status).toMatch(/^(paused|failed)$/);
    const next = await test.start('next', planText('<Task id="n" run={() => 1} />'));
    expect(await test.end(next)).toMatchObject({ status: 'completed' });
  },
);
