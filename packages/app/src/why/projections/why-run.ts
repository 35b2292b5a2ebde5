import { isDenied, timerDue } from '@signalbox/model';
import type { AnyEvent, Decision } from '@signalbox/runs';
import { isDoRun } from '../../host/do-runs.ts';
import { isInterrupted } from '../../host/interrupted-runs.ts';
import { ago, errorText, nodeName } from './phrases.ts';
import { failedAttempts } from './starts.ts';
import { isWork, unsaid, type WhyAnswer, type WhyFacts } from './why-facts.ts';
import { onceCorrected, waitsFor, whyBlocked, whyCanceled } from './why-node.ts';

/** Why a run is in its state. */
export function whyRun(facts: WhyFacts): readonly WhyAnswer[] {
  const { run, events, now } = facts;
  const status = isInterrupted(run) ? 'interrupted' : run.status;
  const turned = events.findLast(event => event.type === 'run.status' && event.to === status);
  const since = turned === undefined ? '' : ` since ${turned.ts} (${ago(turned.ts, now)})`;
  const told: WhyAnswer = {
    topic: 'status',
    text: `The run is ${status}${since}.`,
    at: turned?.ts,
    seq: turned?.seq,
  };
  return [told, ...reasons(facts), ...collected(facts)];
}

function reasons(facts: WhyFacts): readonly WhyAnswer[] {
  const { run, events } = facts;
  switch (run.status) {
    case 'waiting':
      return whyWaiting(facts);
    case 'failed':
      return whyFailed(facts);
    case 'stopped':
      return whyStopped(facts);
    case 'paused':
      return [whyPaused(facts)];
    case 'stalled':
      return [whyStalled(events, run.id)];
    case 'running':
    case 'queued':
      return whyRunning(facts);
    case 'completed':
      return whyCompleted(facts);
  }
}

function whyWaiting(facts: WhyFacts): readonly WhyAnswer[] {
  const { decisions, statuses } = facts;
  const open = decisions.filter(({ status }) => status === 'open').map(decision => waitsFor(decision, facts));
  const isBlocked = (node: string) => statuses.get(node)?.status === 'blocked';
  const late = decisions.filter(
    ({ status, deliveredAt, node }) => status === 'answered' && deliveredAt === undefined && isBlocked(node),
  );
  const asked = new Set(
    [...decisions.filter(({ status }) => status === 'open'), ...late].map(({ node }) => String(node)),
  );
  const blocked = [...statuses]
    .filter(([node, { status }]) => status === 'blocked' && !asked.has(node) && isWork(facts.nodes.get(node)))
    .flatMap(([node]) => whyBlocked(facts, node).map(answer => named(facts, node, answer)));
  const all = [...open, ...late.map(decision => notReached(decision, facts)), ...blocked];
  return all.length > 0 ? all : [unsaid('what it waits for')];
}

/** What was under way when the code of the plan ended its thread. */
function lostIn({ run, tasks, nodes }: WhyFacts): readonly WhyAnswer[] {
  const last = tasks.filter(({ status }) => status !== 'done' && status !== 'error');
  const names = [...new Set(last.map(({ node }) => `the ${nodeName(node, nodes.get(node))}`))];
  const text =
    names.length === 0
      ? 'The code of its plan ended the thread that it runs in.'
      : `The code of its plan ended the thread that it runs in, while ${names.join(' and ')} was under way.`;
  return [{ topic: 'failed', text, command: `signalbox resume ${run.id} --use-current` }];
}

function notReached({ node, answeredBy = 'somebody' }: Decision, { run, nodes }: WhyFacts): WhyAnswer {
  return {
    topic: 'waits',
    text: `The ${nodeName(node, nodes.get(node))} was answered by ${answeredBy}, but the run has not gone on since.`,
    command: `signalbox resume ${run.id}`,
  };
}

/** The first unresolved failure comes first: later ones may have followed from it. */
function whyFailed(facts: WhyFacts): readonly WhyAnswer[] {
  const { run, events, nodes, statuses, children } = facts;
  const failed = ['failed', 'abandoned', 'canceled'];
  const isStanding = (node: string) =>
    failed.includes(statuses.get(node)?.status ?? '') &&
    nodes.get(node)?.data.allowFailure === undefined &&
    nodes.has(node);
  const first = events.find(
    event =>
      (event.type === 'task.ended' && event.outcome === 'error' && !event.stale && isStanding(event.node)) ||
      (event.type === 'handler.failed' && isStanding(event.node)),
  );
  const own: WhyAnswer = {
    topic: 'failed',
    text:
      run.error === undefined
        ? 'The log does not say with which error.'
        : isDoRun(run)
          ? `It failed: ${run.error.message}`
          : `It ended with ${errorText(run.error)}.`,
  };
  const mend = `signalbox resume ${run.id} --use-current`;
  if (isPlanFault(run.error?.code) && isDoRun(run)) return [own];
  if (isPlanFault(run.error?.code)) {
    const fault: WhyAnswer = { ...own, thrown: run.error?.thrown };
    const where = run.frames === 0 ? 'before its first frame' : `after frame ${run.frames - 1}`;
    const text = `Its plan failed, not a node: the plan's own code threw ${where}. Correct the plan, then resume the run.`;
    return [fault, { topic: 'failed', text, command: mend }];
  }
  if (first === undefined || !('node' in first) || first.node === undefined) {
    const canceled = [...statuses].flatMap(([id, { status }]) =>
      status === 'canceled' && isStanding(id) && isWork(nodes.get(id)) ? whyCanceled(facts, id) : [],
    );
    if (run.error?.code === 'thread-lost') return [{ ...own, thrown: run.error.thrown }, ...lostIn(facts)];
    return [own, ...(canceled.length > 0 ? canceled : [unsaid('which node failed first')])];
  }
  const node = first.node;
  const cause: WhyAnswer = {
    topic: 'failed',
    text: `The ${nodeName(node, nodes.get(node))} failed first.`,
    at: first.ts,
    seq: first.seq,
    command: statuses.get(node)?.unhandled === true ? mend : `signalbox retry ${run.id} ${node}`,
  };
  const child = children.findLast(({ origin }) => origin?.kind === 'sub-plan' && origin.node === node);
  const below: readonly WhyAnswer[] =
    child === undefined
      ? []
      : [{ topic: 'failed', text: `Its run ${child.id} is ${child.status}.`, command: `signalbox why ${child.id}` }];
  const others = [...statuses].filter(
    ([id, { status }]) =>
      id !== node &&
      status === 'failed' &&
      nodes.get(id)?.data.allowFailure === undefined &&
      nodes.get(id)?.parent !== undefined &&
      isWork(nodes.get(id)),
  ).length;
  return [
    own,
    cause,
    ...failedAttempts(node, events),
    ...(statuses.get(node)?.unhandled === true ? [] : onceCorrected(facts, node)),
    ...below,
    ...(others > 0
      ? [
          {
            topic: 'failed' as const,
            text: `${others} more ${others === 1 ? 'node has' : 'nodes have'} failed.`,
            command: `signalbox show ${run.id}`,
          },
        ]
      : []),
  ];
}

/** Whether a run failed because of its plan's own code. */
export function isPlanFault(code = ''): boolean {
  return code.startsWith('plan/') && code !== 'plan/task-failed' && code !== 'plan/input-invalid';
}

function whyStopped(facts: WhyFacts): readonly WhyAnswer[] {
  const { run, nodes, statuses } = facts;
  const denied = [...statuses].filter(
    ([node, { status, reason }]) => status === 'failed' && isDenied(reason) && isWork(nodes.get(node)),
  );
  const isDenial = run.stopReason?.startsWith('A person denied ') === true;
  if (!isDenial || denied.length === 0) return [whoStopped(facts)];
  return denied.map(([node, { reason }]) => ({
    topic: 'failed',
    text: `The ${nodeName(node, nodes.get(node))} was denied, and the plan does not say what follows: ${reason?.replace(/^denied: /, '')}. It can be asked again.`,
    command: `signalbox retry ${run.id} ${node}`,
  }));
}

function whoStopped({ run, events }: WhyFacts): WhyAnswer {
  const acted = events.findLast(
    event => event.type === 'operator.acted' && (event.action === 'stop' || event.action === 'terminate'),
  );
  const command = `signalbox resume ${run.id}`;
  const reason = run.stopReason === undefined ? '' : `: ${run.stopReason}`;
  if (acted?.type === 'operator.acted') {
    return {
      topic: 'status',
      text: `${acted.by} asked for it (${acted.action})${reason}.`,
      at: acted.ts,
      seq: acted.seq,
      command,
    };
  }
  if (run.stopReason === undefined) return unsaid('who or what stopped it');
  return { topic: 'status', text: `It was stopped by its plan or by a limit${reason}.`, command };
}

function whyPaused({ run, events }: WhyFacts): WhyAnswer {
  if (isInterrupted(run)) {
    return { topic: 'status', text: 'Its process ended without stopping it.', command: `signalbox resume ${run.id}` };
  }
  const last = events.findLast(event => event.type === 'run.status');
  const isHeld = run.stopReason !== undefined && (last?.type !== 'run.status' || last.to !== 'paused');
  if (isHeld) {
    // It is committed as running: only the driving process knows.
    const text = `${run.stopReason} The run resumes automatically once it accepts writes again; nothing is lost.`;
    return { topic: 'status', text };
  }
  const acted = events.findLast(event => event.type === 'operator.acted' && event.action === 'pause');
  if (acted?.type !== 'operator.acted') return unsaid('who paused it');
  const who = acted.by === 'signalbox' ? 'The process that drove it ended and paused it' : `${acted.by} paused it`;
  return { topic: 'status', text: `${who}.`, at: acted.ts, seq: acted.seq, command: `signalbox resume ${run.id}` };
}

function whyStalled(events: readonly AnyEvent[], run: string): WhyAnswer {
  const stalled = events.findLast(event => event.type === 'run.stalled');
  if (stalled?.type !== 'run.stalled') return unsaid('what it kept doing');
  return {
    topic: 'status',
    text: `It kept rendering frames without finishing work or receiving anything from outside. ${stalled.evidence.summary}`,
    at: stalled.ts,
    seq: stalled.seq,
    command: `signalbox frames ${run}`,
  };
}

function whyRunning(facts: WhyFacts): readonly WhyAnswer[] {
  const { tasks, nodes, now, run } = facts;
  const working = tasks
    .filter(({ status }) => status === 'running' || status === 'canceling')
    .map((task): WhyAnswer => {
      const since = task.startedAt === undefined ? '' : ` since ${task.startedAt} (${ago(task.startedAt, now)})`;
      return {
        topic: 'status',
        text: `The ${nodeName(task.node, nodes.get(task.node))} works${since}, attempt ${task.retryCount + 1}.`,
        at: task.startedAt,
      };
    });
  const waiting = tasks
    .filter(({ status, nextRetryAt }) => status === 'pending' && nextRetryAt !== undefined)
    .map(
      (task): WhyAnswer => ({
        topic: 'waits',
        text: `The ${nodeName(task.node, nodes.get(task.node))} will be retried at ${task.nextRetryAt}, after ${errorText(task.lastError)}.`,
        at: task.nextRetryAt,
      }),
    );
  const timers = tasks
    .filter(({ blockReason }) => timerDue(blockReason) !== undefined)
    .flatMap(({ node }) => whyBlocked(facts, node).map(answer => named(facts, node, answer)));
  const open = facts.decisions.filter(({ status }) => status === 'open').map(decision => waitsFor(decision, facts));
  const all = [...working, ...waiting, ...timers, ...open];
  if (all.length > 0) return all;
  return [{ ...unsaid('that anything works on it; its process may be gone'), command: `signalbox resume ${run.id}` }];
}

function whyCompleted({ statuses, nodes, events }: WhyFacts): readonly WhyAnswer[] {
  const ended = events.findLast(event => event.type === 'operator.acted' || event.type === 'run.status');
  const passed = [...statuses].filter(([node, { status }]) => status === 'failed' && isWork(nodes.get(node)));
  return [
    { topic: 'status', text: 'Everything that its plan asked for is done.', seq: ended?.seq },
    ...passed.map(([node]) => ({
      topic: 'failed' as const,
      text: `The ${nodeName(node, nodes.get(node))} failed along the way, and the plan continued.`,
    })),
  ];
}

function named({ nodes }: WhyFacts, node: string, answer: WhyAnswer): WhyAnswer {
  return { ...answer, text: `The ${nodeName(node, nodes.get(node))}: ${answer.text}` };
}

/** Of collected frames, only what people and agents left is known. */
function collected({ run }: WhyFacts): readonly WhyAnswer[] {
  const gone = run.collected ?? [];
  if (gone.length === 0) return [];
  const ranges = gone.map(({ from, to }) => (from === to ? `${from}` : `${from} to ${to}`));
  return [
    { topic: 'unknown', text: `Frames ${ranges.join(', ')} were collected: their trees, state and events are gone.` },
  ];
}
