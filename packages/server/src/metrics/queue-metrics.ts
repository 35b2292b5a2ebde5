import type { CommitNotice, RunHost } from '@signalbox/app/host';
import { boundedLabel } from './bounded-label.ts';
import type { MetricShelf } from './metric-shelf.ts';
import { countOpenDecisions } from './open-decisions.ts';
import { restsAfter } from './rests-after.ts';

/** The work of an active run. */
interface LiveWork {
  readonly tasks: Map<string, { readonly node: string; readonly state: 'working' | 'waiting' }>;
  /** Why nodes are blocked, by node. */
  readonly blocked: Map<string, string>;
}

const MOST_REASONS = 20;

/** Waiting and running work of active runs. */
export function queueMetrics(shelf: MetricShelf, host: Pick<RunHost, 'reader' | 'feed' | 'driven'>): () => void {
  const works = new Map<string, LiveWork>();
  const reasonOf = boundedLabel(MOST_REASONS);
  const workOf = (run: string): LiveWork => {
    const known = works.get(run) ?? { tasks: new Map(), blocked: new Map() };
    works.set(run, known);
    return known;
  };

  const follow = ({ run, events }: CommitNotice): void => {
    for (const { event } of events) {
      switch (event.type) {
        case 'task.started':
          workOf(run).tasks.set(event.task, { node: event.node, state: 'working' });
          break;
        case 'task.retry':
          workOf(run).tasks.set(event.task, { node: event.node, state: 'waiting' });
          break;
        case 'task.ended':
        case 'task.orphaned':
          works.get(run)?.tasks.delete(event.task);
          break;
        case 'node.status':
          if (event.to === 'blocked') block(workOf(run), event.node, kindOf(event.blockReason));
          else works.get(run)?.blocked.delete(event.node);
          break;
        default:
          break;
      }
    }
    if (restsAfter(events)) works.delete(run);
  };

  const tasksThat = (state: 'working' | 'waiting'): number => {
    let count = 0;
    for (const { tasks } of works.values()) for (const task of tasks.values()) if (task.state === state) count += 1;
    return count;
  };
  shelf.gauge('runs_driven', 'Runs that are currently driven.', () => host.driven().length);
  const decisions = countOpenDecisions(host);
  shelf.gauge('decisions_open', 'Decisions of runs that wait for a person.', decisions.count);
  shelf.gauge('tasks_under_way', 'Work that is currently running.', () => tasksThat('working'));
  shelf.gauge('tasks_waiting', 'Work that was started and waits: for a person, or for a retry.', () =>
    tasksThat('waiting'),
  );
  shelf.gauges('nodes_blocked', 'Blocked nodes of active runs, by what they wait for.', ['reason'], () =>
    [...works.values()].flatMap(({ blocked }) =>
      [...blocked.values()].map(reason => [{ reason: reasonOf(reason) }, 1] as const),
    ),
  );
  const stop = host.feed.subscribe('all', follow);
  return () => {
    stop();
    decisions.close();
  };
}

/** Work of a blocked node is not running: it starts again when its node is unblocked. */
function block({ tasks, blocked }: LiveWork, node: string, reason: string): void {
  blocked.set(node, reason);
  for (const [task, is] of tasks) if (is.node === node) tasks.set(task, { node, state: 'waiting' });
}

/** `approval_required:file_edit` is of the kind `approval_required`. */
function kindOf(reason: string | undefined): string {
  return reason?.split(':', 1)[0] ?? '';
}
