import type { Json, Timestamp } from '@signalbox/model';
import type { AnyEvent, Decision, RunRecord, Task } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import type { BranchFact, NodeFact, StatusFact, WhyFacts } from './why-facts.ts';
import { whyNode } from './why-node.ts';
import { whyRun } from './why-run.ts';

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 12, minute)).toISOString() as Timestamp;

let seq = 0;
const event = (type: AnyEvent['type'], fields: object = {}): AnyEvent => {
  seq += 1;
  return { v: 1, seq, ts: at(seq % 60), type, ...fields } as unknown as AnyEvent;
};
const status = (node: string, to: string, fields: object = {}) =>
  event('node.status', { node, frame: 3, from: 'idle', to, ...fields });
const started = (node: string, fields: object = {}) =>
  event('task.started', { node, task: 'task-1', iteration: 0, attempt: 1, ...fields });
const busy = { class: 'retryable', code: '503', message: 'busy\nmore' };

interface Given {
  readonly run?: Partial<RunRecord>;
  readonly events?: readonly AnyEvent[];
  readonly tasks?: readonly Partial<Task>[];
  readonly decisions?: readonly Partial<Decision>[];
  readonly nodes?: Readonly<Record<string, Partial<NodeFact>>>;
  readonly statuses?: Readonly<Record<string, StatusFact>>;
  readonly children?: readonly Partial<RunRecord>[];
  readonly branches?: readonly BranchFact[];
}

function facts({
  run = {},
  events = [],
  tasks = [],
  decisions = [],
  nodes = {},
  statuses = {},
  children = [],
  branches = [],
}: Given): WhyFacts {
  const whole = Object.entries(nodes).map(([id, node]) => [id, { kind: 'task', data: {}, index: 0, ...node }] as const);
  return {
    now: at(59),
    run: { id: 'R', status: 'running', frames: 5, ...run } as RunRecord,
    events,
    tasks: tasks as readonly Task[],
    decisions: decisions as readonly Decision[],
    nodes: new Map(whole),
    statuses: new Map(Object.entries(statuses)),
    children: children as readonly RunRecord[],
    branches,
  };
}

const texts = (answers: ReturnType<typeof whyRun>) => answers.map(({ text }) => text);
const ofRun = (given: Given) => texts(whyRun(facts(given)));
const ofNode = (node: string, given: Given) => texts(whyNode(facts(given), node));
const ask = {
  id: 'D',
  node: 'ask',
  status: 'open',
  askedAt: at(29),
  kind: 'human',
  proposal: { prompt: 'Go on?\nReally?' },
} as unknown as Partial<Decision>;

describe('why a plan failed', () => {
  it('[A321] is the plan itself, and no node', () => {
    const error = { class: 'terminal', code: 'plan/render-failed', message: 'a bug' } as const;
    const given = { run: { status: 'failed', error, frames: 5 }, nodes: { n: {} } } as const;
    expect(ofRun(given).at(-1)).toBe(
      "Its plan failed, not a node: the plan's own code threw after frame 4. Correct the plan, then resume the run.",
    );
    expect(whyRun(facts(given)).at(-1)?.command).toBe('signalbox resume R --use-current');
  });

  it('[A321] or a handler, whose node goes on without its work being done again', () => {
    const events = [event('handler.failed', { node: 'n', handler: 'onFinished', frame: 1, error: 'a bug' })];
    const error = { class: 'terminal', code: 'plan/task-failed', message: 'Node n failed' } as const;
    const statuses = { n: { status: 'failed', unhandled: true } } as const;
    const given = { run: { status: 'failed', error }, nodes: { n: {} }, statuses, events } as const;
    const command = 'signalbox resume R --use-current';
    expect(whyRun(facts(given)).map(answer => answer.command)).toContain(command);
    expect(whyNode(facts(given), 'n').at(-1)).toMatchObject({
      text: expect.stringContaining('will not be repeated'),
      command,
    });
  });
});

describe('why work failed', () => {
  it('[A771] names the corrected plan, if the plan’s own code failed and can be repeated', () => {
    const error = { class: 'terminal', code: 'plan/task-failed', message: 'Node n failed' } as const;
    const given = (fields: Partial<Task>, kind = 'task') =>
      ({
        run: { status: 'failed', error },
        nodes: { n: { kind } },
        statuses: { n: { status: 'failed' } },
        tasks: [{ node: 'n' as Task['node'], status: 'error', effects: 'none', lastError: error, ...fields }],
        events: [event('task.ended', { node: 'n', task: 'task-1', outcome: 'error', stale: false, error })],
      }) as const;
    const commands = (fields: Partial<Task>, kind?: string) =>
      [whyNode(facts(given(fields, kind)), 'n'), whyRun(facts(given(fields, kind)))].map(answers =>
        answers.flatMap(({ command }) => command ?? []),
      );
    const [retry, mend] = ['signalbox retry R n', 'signalbox resume R --use-current'];
    expect(commands({})).toEqual([
      [retry, mend],
      [retry, mend],
    ]);
    expect(commands({ effects: 'external' })).toEqual([[retry], [retry]]);
    expect(commands({ effects: 'undoable' }, 'agent')).toEqual([[retry], [retry]]);
    expect(commands({ effects: 'undoable', lastError: { ...error, code: 'output-invalid' } }, 'agent')).toEqual([
      [retry, mend],
      [retry, mend],
    ]);
  });
});

describe('why a run waits', () => {
  it('[A100] is the decision, since when, and how to answer', () => {
    const given = {
      run: { status: 'waiting' },
      decisions: [ask],
      nodes: { ask: { kind: 'human' } },
      statuses: { ask: { status: 'blocked' } },
    } as const;
    expect(ofRun(given)).toEqual([
      'The run is waiting.',
      `The human 'ask' has been waiting for a person since ${at(29)} (30 min ago): Go on?`,
    ]);
    expect(whyRun(facts(given))[1]).toMatchObject({ topic: 'waits', at: at(29), command: 'signalbox approve D' });
  });

  it('[A100] names the options of a choice, which an answer needs', () => {
    const choice = {
      ...ask,
      kind: 'choice',
      proposal: { prompt: 'Which?', options: [{ id: 'a' }, { id: 'b' }] } as Json,
    } as const;
    const [, waits] = whyRun(facts({ run: { status: 'waiting' }, decisions: [choice] }));
    expect(waits).toMatchObject({ command: 'signalbox approve D --option a|b' });
  });

  it('[A100] is a tool that a person must allow', () => {
    const tool = { ...ask, proposal: { tool: 'run_command', why: 'It writes files.' } as Json };
    expect(ofRun({ run: { status: 'waiting' }, decisions: [tool] })[1]).toContain(
      'may run_command be used? It writes files.',
    );
  });

  it('[A100] is a sub-plan that waits, by its run', () => {
    const child = {
      id: 'C',
      status: 'waiting',
      origin: { kind: 'sub-plan', run: 'R', node: 'sub' },
    } as unknown as Partial<RunRecord>;
    const given: Given = {
      run: { status: 'waiting' },
      nodes: { sub: { kind: 'subplan' } },
      statuses: { sub: { status: 'blocked', reason: 'sub_plan_waiting' } },
      children: [child],
    };
    expect(ofRun(given)[1]).toBe("The subplan 'sub': Its run C waits for a person.");
    expect(ofRun({ ...given, children: [] })[1]).toContain('The log does not say by which run');
  });

  it('[A1011] is an answer that has not reached it', () => {
    const given = {
      run: { status: 'waiting' },
      decisions: [{ ...ask, status: 'answered', answeredBy: 'ada' } as Partial<Decision>],
      nodes: { ask: { kind: 'human' } },
      statuses: { ask: { status: 'blocked', reason: 'approval_required:confirmation' } },
    } as const;
    expect(ofRun(given)).toEqual([
      'The run is waiting.',
      "The human 'ask' was answered by ada, but the run has not gone on since.",
    ]);
    expect(whyRun(facts(given))[1]?.command).toBe('signalbox resume R');
    const taken = given.decisions.map(one => ({ ...one, deliveredAt: at(30) }));
    expect(ofRun({ ...given, decisions: taken })[1]).not.toContain('answered');
  });

  it('[A100] is not told where the log does not say it, nor of what was answered', () => {
    const answered = { ...ask, status: 'answered' } as Partial<Decision>;
    expect(ofRun({ run: { status: 'waiting' }, decisions: [answered] })).toEqual([
      'The run is waiting.',
      'The log does not say what it waits for.',
    ]);
  });
});

describe('why a run failed', () => {
  const failure = (node: string, message: string) =>
    event('task.ended', {
      node,
      task: 't',
      iteration: 0,
      attempt: 2,
      outcome: 'error',
      error: { ...busy, message },
      stale: false,
    });

  it('[A101] is its first failure that still stands, with every attempt', () => {
    const events = [
      event('task.retry', { node: 'a', attempt: 1, error: busy, retryAt: at(40) }),
      failure('passed', 'the plan went on from this'),
      failure('a', 'still busy'),
      failure('b', 'followed'),
      event('run.status', { from: 'running', to: 'failed' }),
    ];
    const given: Given = {
      run: { status: 'failed', error: { class: 'terminal', code: 'plan/task-failed', message: 'Node a failed' } },
      events,
      nodes: { root: { kind: 'plan' }, a: { parent: 'root' }, b: { parent: 'root' }, passed: { parent: 'root' } },
      statuses: { a: { status: 'failed' }, b: { status: 'failed' }, passed: { status: 'succeeded' } },
    };
    expect(ofRun(given).slice(1)).toEqual([
      'It ended with plan/task-failed: Node a failed.',
      "The task 'a' failed first.",
      `Attempt 1 failed with 503: busy; the next was due at ${at(40)}.`,
      'Attempt 2 failed with 503: still busy, and was the last.',
      '1 more node has failed.',
    ]);
    expect(whyRun(facts(given))[2]).toMatchObject({ seq: events[2]?.seq, command: 'signalbox retry R a' });
  });

  it('[A101] is its error alone where no node failed, and that is said', () => {
    const error = { class: 'terminal', code: 'thread-lost', message: 'Its thread was lost' } as const;
    expect(ofRun({ run: { status: 'failed', error } }).slice(1)).toEqual([
      'It ended with thread-lost: Its thread was lost.',
      'The code of its plan ended the thread that it runs in.',
    ]);
    const other = { class: 'terminal', code: 'odd', message: 'Odd' } as const;
    expect(ofRun({ run: { status: 'failed', error: other } })).toContain(
      'The log does not say which node failed first.',
    );
  });

  it('[A101] is a handler that threw', () => {
    const events = [event('handler.failed', { node: 'a', handler: 'onFinished', frame: 4, error: 'boom' })];
    const given: Given = { run: { status: 'failed' }, events, nodes: { a: {} }, statuses: { a: { status: 'failed' } } };
    expect(ofRun(given)).toContain('Its handler onFinished failed in frame 4: boom.');
  });
});

describe('why a run stands still', () => {
  it('[A102] names who stopped or paused it, and says so where nobody is named', () => {
    const stop = event('operator.acted', { action: 'stop', by: 'anna' });
    expect(ofRun({ run: { status: 'stopped', stopReason: 'wrong branch' }, events: [stop] })[1]).toBe(
      'anna asked for it (stop): wrong branch.',
    );
    expect(ofRun({ run: { status: 'stopped', stopReason: 'max cost' } })[1]).toBe(
      'It was stopped by its plan or by a limit: max cost.',
    );
    expect(ofRun({ run: { status: 'stopped' } })[1]).toBe('The log does not say who or what stopped it.');
    expect(
      ofRun({ run: { status: 'paused' }, events: [event('operator.acted', { action: 'pause', by: 'signalbox' })] })[1],
    ).toContain('The process that drove it ended and paused it');
    const held = { status: 'paused', stopReason: 'The disk is full.' } as const;
    expect(ofRun({ run: held })[1]).toBe(
      'The disk is full. The run resumes automatically once it accepts writes again; nothing is lost.',
    );
    expect(ofRun({ run: { status: 'paused' } })[1]).toBe('The log does not say who paused it.');
    expect(
      ofRun({ run: { status: 'stalled' }, events: [event('run.stalled', { evidence: { summary: '11 frames.' } })] })[1],
    ).toBe('It kept rendering frames without finishing work or receiving anything from outside. 11 frames.');
  });

  it('[A102] tells what works and what is tried again; where nothing does, that its process may be gone', () => {
    const tasks = [
      { node: 'a', status: 'running', startedAt: at(58), retryCount: 1 },
      { node: 'b', status: 'pending', nextRetryAt: at(60), lastError: busy },
      { node: 'c', status: 'done' },
    ] as unknown as readonly Partial<Task>[];
    expect(ofRun({ tasks, nodes: { a: {}, b: {} } }).slice(1)).toEqual([
      `The task 'a' works since ${at(58)} (60 s ago), attempt 2.`,
      `The task 'b' will be retried at ${at(60)}, after 503: busy.`,
    ]);
    expect(ofRun({})[1]).toContain('its process may be gone');
  });

  it('[A102] tells of a completed run what failed on the way, and of a collapsed one what is gone', () => {
    const given: Given = {
      run: {
        status: 'completed',
        collected: [
          { from: 1, to: 3 },
          { from: 5, to: 5 },
        ],
      },
      nodes: { a: {}, p: { kind: 'phase' } },
      statuses: { a: { status: 'failed' }, p: { status: 'failed' } },
    };
    expect(ofRun(given).slice(1)).toEqual([
      'Everything that its plan asked for is done.',
      "The task 'a' failed along the way, and the plan continued.",
      'Frames 1 to 3, 5 were collected: their trees, state and events are gone.',
    ]);
  });
});

describe('why a node is as it is', () => {
  it.each<[string, StatusFact, Given, string]>([
    [
      'a rate limit',
      { status: 'blocked', reason: 'rate_limit' },
      { tasks: [{ node: 'n', nextRetryAt: at(3) } as Partial<Task>] },
      `Its provider asked to wait until ${at(3)}.`,
    ],
    [
      'an unknown outcome',
      { status: 'blocked', reason: 'outcome_unknown' },
      {},
      'a person is asked whether they happened',
    ],
    [
      'another reason',
      { status: 'blocked', reason: 'approval_required:command_exec' },
      {},
      'It is blocked: approval_required:command_exec.',
    ],
    [
      'a reason that only its event has',
      { status: 'blocked' },
      { events: [status('n', 'blocked', { blockReason: 'disk' })] },
      'It is blocked: disk.',
    ],
    ['nothing that is known', { status: 'blocked' }, {}, 'The log does not say what it is blocked by.'],
  ])('[A103] is blocked by %s', (_, now, given, expected) => {
    expect(ofNode('n', { ...given, nodes: { n: {} }, statuses: { n: now } }).join('\n')).toContain(expected);
  });

  it('[A103] failed, with its attempts, or without what the log does not say', () => {
    const given: Given = { nodes: { n: {} }, statuses: { n: { status: 'failed' } } };
    const events = [
      status('n', 'failed'),
      event('task.ended', { node: 'n', attempt: 1, outcome: 'error', stale: false }),
    ];
    expect(ofNode('n', { ...given, events })[0]).toContain(`The task 'n' is failed since ${events[0]?.ts} (`);
    expect(ofNode('n', { ...given, events }).slice(1)).toEqual([
      'Attempt 1 failed with an error that was not kept, and was the last.',
      'It can be run again.',
    ]);
    expect(ofNode('n', given)[1]).toBe('The log does not say what failed.');
  });

  it('[A103] was canceled, by whom', () => {
    const given: Given = { nodes: { n: {} }, statuses: { n: { status: 'canceled' } } };
    const cancel = event('operator.acted', { action: 'cancel', node: 'n', by: 'anna' });
    expect(ofNode('n', { ...given, events: [cancel] })[1]).toBe('anna canceled it.');
    expect(ofNode('n', { ...given, events: [event('operator.acted', { action: 'stop', by: 'bert' })] })[1]).toContain(
      'bert ended the run',
    );
    expect(ofNode('n', given)[1]).toBe('The log does not say who canceled it.');
  });

  it('[A103] is idle because what is before it is not done', () => {
    const nodes = {
      root: { kind: 'plan' },
      one: { kind: 'phase', parent: 'root', index: 0, data: { name: 'build' } },
      two: { kind: 'phase', parent: 'root', index: 1, data: { name: 'ship' } },
      n: { parent: 'two' },
    };
    expect(ofNode('n', { nodes, statuses: { n: { status: 'idle' }, one: { status: 'failed' } } })[1]).toBe(
      "It has not been reached: the phase 'build' before it is failed.",
    );
    expect(ofNode('n', { nodes, statuses: { one: { status: 'succeeded' } } })[1]).toBe(
      'The log does not say what it waits for.',
    );
  });

  it('[A103] holds what is blocked or failed', () => {
    const nodes = { p: { kind: 'phase' }, s: { kind: 'step', parent: 'p' }, n: { parent: 's' }, other: {} };
    const statuses = {
      p: { status: 'blocked' },
      s: { status: 'blocked' },
      n: { status: 'blocked' },
      other: { status: 'blocked' },
    };
    expect(ofNode('p', { nodes, statuses })).toEqual(["The phase 'p' is blocked.", "The task 'n' in it is blocked."]);
  });

  it('[A103] is in the plan no more, or never was', () => {
    expect(
      ofNode('n', { tasks: [{ node: 'n' } as unknown as Partial<Task>], events: [status('n', 'canceled')] }),
    ).toEqual([
      "The node 'n' is no longer in the plan: a later frame unmounted it. In frame 3, its last one, it was canceled.",
    ]);
    expect(ofNode('n', {})).toEqual(["The log has no node 'n' that is in the plan or did any work."]);
  });
});

describe('why a branch was taken', () => {
  const change = {
    key: 'n',
    old: 1,
    new: 2,
    frame: 1,
    index: 0,
    at: at(1),
    node: 'count',
    handler: 'onFinished',
    trigger: 'task.finished',
  };
  const branch: BranchFact = {
    node: 'b',
    kind: 'if',
    value: true,
    isTaken: false,
    since: { frame: 2, before: false, trigger: { kind: 'task', keys: ['n'] }, changes: [change as never] },
  };
  const given: Given = {
    nodes: { b: { kind: 'if', source: { file: '/plans/p.tsx', line: 7 } }, n: { parent: 'b' } },
    statuses: { n: { status: 'skipped' } },
  };

  it('[A104] is the value of its condition, the frame, and the changes that led there', () => {
    expect(ofNode('n', { ...given, branches: [branch] }).slice(1)).toEqual([
      "It is in a branch that was not taken: the condition of the if 'b' is true.",
      "The condition of the if 'b' is true, so this branch was not taken. It changed in frame 2; before, it was false; the frame was made because of task (n).",
      "Before that, 'n' changed from 1 to 2 (onFinished of 'count', because of task.finished).",
    ]);
  });

  it('[A104] of a switch is its value', () => {
    const answers = ofNode('n', {
      ...given,
      statuses: {},
      branches: [{ node: 'b', kind: 'switch', value: 'red', isTaken: true, since: { frame: 0, changes: [] } }],
    });
    expect(answers.at(-1)).toBe(
      'The value of the if \'b\' is "red", so this branch was taken. It has been so since frame 0, when it was mounted.',
    );
  });

  it('[A104] is not told where the log does not say it', () => {
    const { since: _, ...old } = branch;
    expect(ofNode('n', { ...given, branches: [old] }).at(-1)).toContain('The log does not say since when');
    const silent = { ...branch, since: { frame: 2, before: false, changes: [] } };
    expect(ofNode('n', { ...given, branches: [silent] }).at(-1)).toBe('The log does not say which state led there.');
    expect(ofNode('n', given)[1]).toBe('The log does not say which branch it is in.');
  });

  it('[A104] names a branch without an id by its place', () => {
    const id = '0123456789abcdef';
    const nodes = { [id]: { kind: 'if', source: { file: '/plans/p.tsx', line: 7 } }, n: {} };
    expect(ofNode('n', { nodes, branches: [{ ...branch, node: id }] }).join()).toContain('the if at p.tsx:7');
  });
});

describe('why a node ran again', () => {
  const again = (between: readonly AnyEvent[], second: object = {}) =>
    ofNode('n', { nodes: { n: {} }, events: [started('n'), ...between, started('n', second)] }).at(-1);

  it.each<[string, readonly AnyEvent[], object, string]>([
    [
      'a retry',
      [event('task.retry', { node: 'n', error: busy })],
      { attempt: 2 },
      'It was retried (attempt 2) after 503: busy.',
    ],
    ['a turn of its loop', [], { iteration: 1, task: 'task-2' }, 'It ran again in turn 2 of its loop.'],
    [
      'a process that ended',
      [event('task.orphaned', { node: 'n', action: 'retry' })],
      {},
      'its process ended first (retry)',
    ],
    [
      'an operator',
      [
        event('task.retry', { node: 'n', error: busy }),
        event('operator.acted', { action: 'retry', node: 'n', by: 'anna' }),
      ],
      {},
      'anna asked for a retry',
    ],
    [
      'an answer',
      [status('n', 'blocked', { blockReason: 'approval_required:human' })],
      {},
      'after it was blocked (approval_required:human)',
    ],
    ['other work', [], { task: 'task-2' }, 'as new work'],
    [
      'what the log does not say',
      [event('task.retry', { node: 'another', error: busy })],
      {},
      'the log does not say why',
    ],
  ])('[A105] is %s', (_, between, second, expected) => {
    expect(again(between, second)).toContain(expected);
  });

  it('[A105] is not told of a node that ran once', () => {
    expect(ofNode('n', { nodes: { n: {} }, events: [started('n')], statuses: { n: { status: 'running' } } })).toEqual([
      "The task 'n' is running.",
    ]);
  });
});
