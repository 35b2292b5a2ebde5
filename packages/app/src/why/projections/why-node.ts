import { isDenied, type Json, timerDue } from '@signalbox/model';
import { type AnyEvent, type Decision, isRepairable, type RunRecord } from '@signalbox/runs';
import { isDoRun } from '../../host/do-runs.ts';
import { INTERRUPTED } from '../../host/interrupted-runs.ts';
import { ago, changeText, nodeName, questionOf, triggerText, until, valueText } from './phrases.ts';
import { failedAttempts, startsAfterFirst } from './starts.ts';
import { type BranchFact, isWork, unsaid, type WhyAnswer, type WhyFacts } from './why-facts.ts';

/** Why a node is in its state, why it ran again, and why its branch was taken or not. */
export function whyNode(facts: WhyFacts, node: string): readonly WhyAnswer[] {
  const { nodes, statuses, events, branches } = facts;
  const here = nodes.get(node);
  if (here === undefined) return whyGone(facts, node);
  const { status = 'idle' } = statuses.get(node) ?? {};
  return [
    ...standing(facts, node, status),
    ...branches.flatMap(branch => whyBranch(branch, nodeName(branch.node, nodes.get(branch.node)))),
    ...startsAfterFirst(node, events),
  ];
}

function standing(facts: WhyFacts, node: string, status: string): readonly WhyAnswer[] {
  const { nodes, events, run, tasks, now } = facts;
  const name = nodeName(node, nodes.get(node));
  const turned = lastStatus(events, node, status);
  const since = turned === undefined ? '' : ` since ${turned.ts} (${ago(turned.ts, now)})`;
  const told: WhyAnswer = {
    topic: 'status',
    text: `The ${name} ${wordsOfStatus(status, facts.statuses.get(node)?.reason)}${since}.`,
    at: turned?.ts,
    seq: turned?.seq,
  };
  if (!isWork(nodes.get(node)))
    return [told, ...(status === 'idle' ? whyIdle(facts, node) : below(facts, node, status))];
  switch (status) {
    case 'blocked':
      return [told, ...whyBlocked(facts, node)];
    case 'failed':
    case 'abandoned': {
      const attempts = failedAttempts(node, events);
      const isUnhandled = facts.statuses.get(node)?.unhandled === true;
      return [
        told,
        ...(attempts.length > 0 ? attempts : [unsaid('what failed')]),
        isUnhandled
          ? {
              topic: 'failed',
              text: 'Its work is done and will not be repeated: correct the plan, and its handler is called again with the recorded result.',
              command: `signalbox resume ${run.id} --use-current`,
            }
          : { topic: 'failed', text: 'It can be run again.', command: `signalbox retry ${run.id} ${node}` },
        ...(isUnhandled ? [] : onceCorrected(facts, node)),
      ];
    }
    case 'canceled':
      return [told, ...whyCanceled(facts, node)];
    case 'skipped':
      return [told, whySkipped(facts)];
    case 'idle':
      return [told, ...whyIdle(facts, node)];
    case 'running':
    case 'scheduled': {
      const task = tasks.findLast(other => other.node === node);
      const retry = task?.nextRetryAt;
      if (retry !== undefined && task?.status === 'pending') {
        return [
          told,
          {
            topic: 'waits',
            text: `It will be retried at ${retry}, after ${task.lastError?.message ?? 'a failure'}.`,
            at: retry,
          },
        ];
      }
      return [told];
    }
    default:
      return [told];
  }
}

/** A denial is none of the stored statuses. */
function wordsOfStatus(status: string, reason: string | undefined): string {
  if (!isDenied(reason)) return `is ${status}`;
  return status === 'succeeded' ? 'was denied, and the plan took that in,' : 'was denied';
}

/** What a corrected plan does about failed work. */
export function onceCorrected({ run, tasks, nodes }: WhyFacts, node: string): readonly WhyAnswer[] {
  const task = tasks.findLast(other => other.node === node);
  if (task === undefined || isDoRun(run) || !isRepairable(nodes.get(node)?.kind, task)) return [];
  return [
    {
      topic: 'failed',
      text: 'If the plan is at fault, correct it: its work starts again when the run is resumed with the current files.',
      command: `signalbox resume ${run.id} --use-current`,
    },
  ];
}

/** The part of its content that determines its state. */
function below({ nodes, statuses, run }: WhyFacts, node: string, status: string): readonly WhyAnswer[] {
  if (status !== 'blocked' && status !== 'failed' && status !== 'running') return [];
  const isInside = (id: string | undefined): boolean =>
    id !== undefined && (id === node || isInside(nodes.get(id)?.parent));
  const topic = status === 'running' ? 'status' : status;
  return [...nodes]
    .filter(([id, fact]) => isWork(fact) && statuses.get(id)?.status === status && isInside(fact.parent))
    .map(([id, fact]) => ({
      topic,
      text: `The ${nodeName(id, fact)} in it is ${status}.`,
      command: `signalbox why ${run.id} ${id}`,
    }));
}

function lastStatus(events: readonly AnyEvent[], node: string, status: string) {
  const found = events.findLast(event => event.type === 'node.status' && event.node === node);
  return found?.type === 'node.status' && found.to === status ? found : undefined;
}

export function whyBlocked(facts: WhyFacts, node: string): readonly WhyAnswer[] {
  const { decisions, statuses, events, tasks, children, run } = facts;
  const open = decisions.filter(decision => decision.status === 'open' && decision.node === node);
  if (open.length > 0) return open.map(decision => waitsFor(decision, facts));
  const event = events.findLast(other => other.type === 'node.status' && other.node === node && other.to === 'blocked');
  const reason =
    statuses.get(node)?.reason ??
    (event?.type === 'node.status' ? event.blockReason : undefined) ??
    tasks.findLast(task => task.node === node)?.blockReason;
  const child = children.findLast(({ origin }) => origin?.kind === 'sub-plan' && origin.node === node);
  const due = timerDue(reason);
  if (due !== undefined)
    return [{ topic: 'waits', text: `It waits until ${due} (${until(due, facts.now)}).`, at: due }];
  switch (reason) {
    case 'sub_plan_waiting':
    case 'sub_plan_paused':
      return [childAnswer(reason, child)];
    case 'rate_limit': {
      const due = tasks.findLast(task => task.node === node)?.nextRetryAt;
      return [
        { topic: 'blocked', text: `Its provider asked to wait${due === undefined ? '' : ` until ${due}`}.`, at: due },
      ];
    }
    case INTERRUPTED:
      return [
        {
          topic: 'blocked',
          text: 'It was working when the process of its run ended.',
          command: `signalbox resume ${run.id}`,
        },
      ];
    case 'outcome_unknown':
      return [
        {
          topic: 'blocked',
          text: 'It was cut off while working, and its effects cannot be undone. When the run resumes, a person is asked whether they happened.',
          command: `signalbox resume ${run.id}`,
        },
      ];
    case undefined:
      return [unsaid('what it is blocked by')];
    default:
      return [{ topic: 'blocked', text: `It is blocked: ${reason}.` }];
  }
}

function childAnswer(reason: string, child: RunRecord | undefined): WhyAnswer {
  if (child === undefined)
    return { topic: 'blocked', text: `It is blocked: ${reason}. The log does not say by which run.` };
  const word = reason === 'sub_plan_paused' ? 'is paused' : 'waits for a person';
  return { topic: 'blocked', text: `Its run ${child.id} ${word}.`, command: `signalbox why ${child.id}` };
}

export function waitsFor({ id, node, askedAt, kind, ...decision }: Decision, { now, nodes }: WhyFacts): WhyAnswer {
  const question = questionOf({ id, node, askedAt, kind, ...decision });
  return {
    topic: 'waits',
    text: `The ${nodeName(node, nodes.get(node))} has been waiting for a person since ${askedAt} (${ago(askedAt, now)}): ${question}`,
    at: askedAt,
    command: `signalbox approve ${id}${answerFlags(decision.proposal)}`,
  };
}

/** The flags that an approval needs. */
function answerFlags(proposal: Json): string {
  const { options, schema } = (proposal ?? {}) as {
    readonly options?: readonly { readonly id: string }[];
    readonly schema?: unknown;
  };
  if (options !== undefined) return ` --option ${options.map(({ id }) => id).join('|')}`;
  return schema === undefined ? '' : ' --value JSON';
}

export function whyCanceled({ events, tasks }: WhyFacts, node: string): readonly WhyAnswer[] {
  return [canceledBy(events, node), ...notEnded(tasks, node)];
}

function canceledBy(events: readonly AnyEvent[], node: string): WhyAnswer {
  const acted = events.findLast(
    event => event.type === 'operator.acted' && event.action === 'cancel' && event.node === node,
  );
  if (acted?.type === 'operator.acted') {
    return { topic: 'status', text: `${acted.by} canceled it.`, at: acted.ts, seq: acted.seq };
  }
  const stopped = events.findLast(
    event => event.type === 'operator.acted' && (event.action === 'stop' || event.action === 'terminate'),
  );
  if (stopped?.type === 'operator.acted') {
    return {
      topic: 'status',
      text: `It was canceled when ${stopped.by} ended the run.`,
      at: stopped.ts,
      seq: stopped.seq,
    };
  }
  return unsaid('who canceled it');
}

/** Canceled work that did not end when it was asked to. */
function notEnded(tasks: WhyFacts['tasks'], node: string): readonly WhyAnswer[] {
  const error = tasks.findLast(task => task.node === node)?.lastError;
  return error?.code === 'not-ended' ? [{ topic: 'status', text: error.message }] : [];
}

function whySkipped({ branches, nodes }: WhyFacts): WhyAnswer {
  const branch = branches.find(({ isTaken }) => isTaken === false);
  if (branch === undefined) return unsaid('which branch it is in');
  const name = nodeName(branch.node, nodes.get(branch.node));
  const value =
    branch.kind === 'if'
      ? `the condition of the ${name} is ${valueText(branch.value)}`
      : `the value of the ${name} is ${valueText(branch.value)}`;
  return { topic: 'skipped', text: `It is in a branch that was not taken: ${value}.` };
}

/** Phases run in order, and so do steps in a phase: earlier ones hold it up. */
function whyIdle({ nodes, statuses, run }: WhyFacts, node: string): readonly WhyAnswer[] {
  for (let at: string | undefined = node; at !== undefined; at = nodes.get(at)?.parent) {
    const own = nodes.get(at);
    if (own === undefined || (own.kind !== 'phase' && own.kind !== 'step')) continue;
    const before = [...nodes]
      .filter(([, { kind, parent, index }]) => kind === own.kind && parent === own.parent && index < own.index)
      .toSorted(([, a], [, b]) => a.index - b.index)
      .find(([id]) => !['succeeded', 'skipped'].includes(statuses.get(id)?.status ?? 'idle'));
    if (before === undefined) continue;
    const [id, fact] = before;
    const text = `It has not been reached: the ${nodeName(id, fact)} before it is ${statuses.get(id)?.status ?? 'idle'}.`;
    return [{ topic: 'unreached', text, command: `signalbox why ${run.id} ${id}` }];
  }
  return [unsaid('what it waits for')];
}

function whyBranch({ kind, value, since, isTaken }: BranchFact, name: string): readonly WhyAnswer[] {
  const what =
    kind === 'if'
      ? `The condition of the ${name} is ${valueText(value)}`
      : `The value of the ${name} is ${valueText(value)}`;
  const way = isTaken === undefined ? '' : isTaken ? ', so this branch was taken' : ', so this branch was not taken';
  if (since === undefined) return [{ topic: 'branch', text: `${what}${way}. The log does not say since when.` }];
  const { frame, before, changes, trigger } = since;
  const first =
    before === undefined
      ? `It has been so since frame ${frame}, when it was mounted`
      : `It changed in frame ${frame}; before, it was ${valueText(before)}`;
  const why = trigger === undefined ? '' : `; the frame was made because of ${triggerText(trigger)}`;
  const led = changes.map(change => ({
    topic: 'branch' as const,
    text: `Before that, ${changeText(change)}.`,
    at: change.at,
  }));
  const rest = before === undefined || led.length > 0 ? [] : [unsaid('which state led there')];
  return [{ topic: 'branch', text: `${what}${way}. ${first}${why}.` }, ...led, ...rest];
}

/** A node that is not in the current plan. */
function whyGone({ events, tasks, run }: WhyFacts, node: string): readonly WhyAnswer[] {
  const ran = tasks.filter(task => task.node === node);
  if (ran.length === 0) {
    return [
      {
        topic: 'unknown',
        text: `The log has no node '${node}' that is in the plan or did any work.`,
        command: `signalbox show ${run.id}`,
      },
    ];
  }
  const left = events.findLast(event => event.type === 'node.status' && event.node === node);
  const last = left?.type === 'node.status' ? ` In frame ${left.frame}, its last one, it was ${left.to}.` : '';
  return [
    {
      topic: 'gone',
      text: `The node '${node}' is no longer in the plan: a later frame unmounted it.${last}`,
      at: left?.ts,
      seq: left?.seq,
    },
    ...failedAttempts(node, events),
    ...startsAfterFirst(node, events),
  ];
}
