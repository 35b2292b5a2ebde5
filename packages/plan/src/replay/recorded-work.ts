import type { Json } from '@signalbox/model';
import type { AnyEvent, Task, TaskId } from '@signalbox/runs';
import type { TaskExecutor, TaskOutcome, TaskRequest } from '../frames/task-executor.ts';
import type { TaskProgress } from '../nodes/handlers.ts';
import type { SubPlanNode } from '../nodes/plan-node.ts';
import type { AnyPlan } from '../plan-definition.ts';

/** Work that is not done: each attempt ends as recorded, when the replay reaches its end. */
export interface RecordedWork {
  readonly executor: TaskExecutor;
  /** Whether the work of a task is running in the replay. */
  isUnderWay(task: TaskId): boolean;
  /** The node's last started work, if it is running. */
  taskOf(node: string): TaskId | undefined;
  end(task: TaskId, outcome: TaskOutcome): void;
  progress(task: TaskId, progress: TaskProgress): void;
  /** The process that did it is gone; another continues with a version of the plan. */
  forget(version: number): void;
  /** The plan of a sub-plan in a version of its parent plan, or as it was last started. */
  subPlan(place: string, version: number | undefined): AnyPlan | undefined;
}

interface Going {
  readonly request: TaskRequest;
  readonly end: (outcome: TaskOutcome) => void;
}

export function createRecordedWork(): RecordedWork {
  const going = new Map<TaskId, Going>();
  const subPlans = new Map<string, Map<number, AnyPlan>>();
  let current = 1;
  return {
    executor: {
      execute(request) {
        const { node, task, totalIteration } = request;
        if (node.kind === 'subplan') {
          const place = subPlanPlace(node.id, totalIteration);
          const versions = subPlans.get(place) ?? new Map<number, AnyPlan>();
          subPlans.set(place, versions.set(current, (node as SubPlanNode).code.plan));
        }
        return new Promise(end => going.set(task, { request, end }));
      },
    },
    isUnderWay: task => going.has(task),
    taskOf: node => [...going.values()].findLast(({ request }) => request.node.id === node)?.request.task,
    end(task, outcome) {
      going.get(task)?.end(outcome);
      going.delete(task);
    },
    progress: (task, progress) => going.get(task)?.request.progress(progress),
    forget(version) {
      going.clear();
      current = version;
    },
    subPlan(place, version) {
      const versions = subPlans.get(place);
      return versions?.get(version ?? 0) ?? [...(versions?.values() ?? [])].at(-1);
    },
  };
}

export function subPlanPlace(node: string, iteration: number): string {
  return `${node} ${iteration}`;
}

type TaskEvent = Extract<AnyEvent, { readonly type: 'task.ended' | 'task.retry' }>;

/** The outcome of the attempt in an event. `row` is the final record of its task. */
export function recordedOutcome(event: TaskEvent, row: Task | undefined): TaskOutcome {
  const { error } = event;
  if (error !== undefined) return { kind: 'failed', error };
  return { kind: 'done', output: (row?.result ?? null) as Json };
}
