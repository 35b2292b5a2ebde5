import { defined, failure, type ThrownPlace, thrownMessage } from '@signalbox/model';
import type { NodeKey, Task, TaskError } from '@signalbox/runs';
import { callAuthor } from '../errors/noted-reads.ts';
import { thrownPlace } from '../errors/thrown-place.ts';
import { isFinal } from '../failures/attempt-error.ts';
import { DENIED, isDenial } from '../failures/denial.ts';
import { type HandlerName, isOfEnd, type NodeHandlers, type TaskFailure } from '../nodes/handlers.ts';
import type { RunnableNode } from '../nodes/plan-node.ts';
import { PlanError, planFailure } from '../plan-error.ts';
import { compareText } from '../state/action.ts';
import { isRecalled, type NodeRecord } from '../structure/node-record.ts';
import type { TaskNews } from './attempts.ts';
import type { EngineBase } from './engine.ts';
import type { Operator } from './operator.ts';
import { lastFrame } from './run-memory.ts';
import type { TaskDesk } from './task-desk.ts';

/** The handler of a failure: the most specific one. */
function handlerOf(handlers: NodeHandlers, code: string): HandlerName {
  if (code === DENIED && handlers.onDenied !== undefined) return 'onDenied';
  return handlers.onFailed === undefined ? 'onError' : 'onFailed';
}

/**
 * Takes in news from work: ends tasks, sets the records of their nodes and runs their handlers, each in its own transaction. All of it is
 * in the ledger for one commit.
 */
export interface Intake {
  /** Returns how many tasks ended. */
  take(news: readonly TaskNews[]): number;
  /** After the flush: which handlers ran, and which failed. */
  settle(failed: ReadonlyMap<number, PlanError>): void;
}

interface Ran {
  readonly node: RunnableNode;
  readonly task: Task;
  readonly handler: HandlerName;
  /** Absent if the handler threw. */
  readonly transaction?: number;
  readonly error?: PlanError;
}

export function createIntake(base: EngineBase, desk: TaskDesk, operator: Operator): Intake {
  const { memory, structure, queue, remember } = base;
  const { ledger, records } = memory;
  let ran: Ran[] = [];

  const setRecord = (node: string, change: Partial<NodeRecord>) => {
    const before = records.get(node);
    if (before === undefined) return;
    const { reason: _, told: __, unhandled: ___, ...rest } = before;
    remember(node, { ...rest, ...change });
  };

  const call = (node: RunnableNode, task: Task, handler: HandlerName, value: unknown) => {
    const code = (node.code.handlers as NodeHandlers)[handler] as ((value: unknown) => unknown) | undefined;
    if (code === undefined) return;
    const trigger = `${node.kind}.${handler.slice(2).toLowerCase()}`;
    try {
      const { transaction } = queue.transact({ node: node.id, handler, trigger }, () => {
        const made = callAuthor(node, () => code(value));
        if (!(made instanceof Promise)) return;
        made.catch(() => {});
        throw new PlanError(
          'plan/handler-failed',
          `${handler} must not be async: what it writes later would not be part of it`,
        );
      });
      ran.push({ node, task, handler, transaction });
    } catch (cause) {
      const error = new PlanError(
        'plan/handler-failed',
        `${handler} of node ${node.id} failed: ${thrownMessage(cause)}`,
        {
          source: node.source,
          cause,
        },
      );
      ran.push({ node, task, handler, error });
    }
  };

  const noteThrown = (node: string, thrown: ThrownPlace | undefined, final: boolean) => {
    if (final) memory.finals.add(node);
    else memory.finals.delete(node);
    if (thrown === undefined) memory.thrown.delete(node);
    else memory.thrown.set(node, thrown);
  };

  const succeeded = (node: RunnableNode, task: Task, value: unknown) => {
    setRecord(node.id, { status: 'succeeded', ...(isDenial(value) && { reason: DENIED }) });
    call(node, task, 'onFinished', value);
  };

  const hasFailed = (node: RunnableNode, task: Task, { code, message, class: kind, thrown, final }: TaskError) => {
    noteThrown(node.id, thrown, final === true);
    setRecord(node.id, { status: 'failed', reason: `${code}: ${message}` });
    const error = failure('plan/task-failed', {
      message: `Node ${node.id} failed: ${message}`,
      suggestion: 'Look at the error, then retry the node.',
      details: { node: node.id, code, class: kind },
    });
    const handler = handlerOf(node.code.handlers, code);
    call(node, task, handler, { error, attempts: task.retryCount + 1 } satisfies TaskFailure);
  };

  /** The work had ended in an earlier process, where its handler failed. */
  const recall = ({ ended: task, outcome, value }: Extract<TaskNews, { kind: 'recalled' }>) => {
    const node = structure.nodeOf(task.node) as RunnableNode | undefined;
    if (node === undefined || !isRecalled(records.get(node.id))) return;
    if (task.status === 'error') {
      if (outcome.kind === 'failed') hasFailed(node, task, outcome.error);
    } else if (outcome.kind === 'failed') {
      const { message } = outcome.error;
      const error = new PlanError('plan/handler-failed', `onFinished of node ${node.id} cannot be called: ${message}`);
      ran.push({ node, task, handler: 'onFinished', error });
    } else succeeded(node, task, value);
  };

  const end = (task: Task, { outcome, value }: Extract<TaskNews, { kind: 'ended' }>) => {
    const woken = operator.takeWoken(task.node);
    const node = structure.nodeOf(task.node) as RunnableNode | undefined;
    const record = records.get(task.node);
    const isCurrent =
      record?.gone === undefined && record?.signature === task.signature && record.iteration === task.iteration;
    const stale = node === undefined || !isCurrent;
    const verdict = desk.close(task.id, outcome, stale);
    if (stale) return;
    switch (verdict.kind) {
      case 'succeeded':
        succeeded(node, task, value);
        return;
      case 'failed':
        hasFailed(node, task, verdict.error);
        return;
      case 'retrying': {
        const isRateLimit = verdict.error.code === 'rate_limit';
        setRecord(task.node, isRateLimit ? { status: 'blocked', reason: 'rate_limit' } : { status: 'scheduled' });
        return;
      }
      case 'blocked': {
        const { reason } = verdict;
        // What it waits for may have come after the work checked.
        setRecord(task.node, woken ? { status: 'idle', told: reason } : { status: 'blocked', reason, told: reason });
        if (record?.told !== reason && reason !== 'sub_plan_paused') call(node, task, 'onBlocked', reason);
        return;
      }
      case 'canceled':
        setRecord(task.node, { status: 'canceled' });
    }
  };

  return {
    take(news) {
      const known = (item: TaskNews) => (item.kind === 'recalled' ? item.ended : memory.tasks.get(item.task));
      const inOrder = [...news].sort((a, b) => compareText(known(a)?.node ?? '', known(b)?.node ?? ''));
      for (const item of inOrder) {
        const task = known(item);
        if (task === undefined) continue;
        if (item.kind === 'ended') end(task, item);
        if (item.kind === 'recalled') recall(item);
        if (item.kind !== 'progress') continue;
        const node = structure.nodeOf(task.node);
        if (node === undefined || task.status !== 'running') continue;
        const { iteration, retryCount } = task;
        ledger.event('task.progressed', {
          task: task.id,
          node: task.node,
          iteration,
          attempt: retryCount + 1,
          detail: { ...item.progress },
        });
        call(node as RunnableNode, task, 'onProgress', item.progress);
      }
      return news.filter(item => item.kind !== 'progress').length;
    },
    settle(failed) {
      const frame = lastFrame(memory);
      for (const { node, task, handler, transaction, error: thrown } of ran) {
        const error = thrown ?? failed.get(transaction ?? Number.NaN);
        const fields = { node: node.id as NodeKey, handler, frame, task: task.id };
        if (error === undefined) ledger.event('handler.ran', fields);
        else {
          const thrown = thrownPlace(error, { element: node }, memory.clean);
          ledger.event('handler.failed', { ...fields, error: error.message, ...defined({ thrown }) });
          const isEnd = isOfEnd(handler);
          const reason = planFailure(error, 'plan/handler-failed').message;
          if (isEnd) noteThrown(node.id, thrown, isFinal(error));
          if (isEnd) setRecord(node.id, { status: 'failed', reason, unhandled: true });
        }
      }
      ran = [];
    },
  };
}
