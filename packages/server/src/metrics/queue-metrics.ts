import type { CommitNotice, RunHost } from '@signalbox/app/runs';
import { boundedLabel } from './bounded-label.ts';
import type { MetricShelf } from './metric-shelf.ts';
import { countOpenDecisions } from './open-decisions.ts';
import { restsAfter } from './rests-after.ts';

/** The work of a run that goes on. */
interface LiveWork {
  readonly tasks: Map<string, 'working' | 'waiting'>;
  /** Why nodes are blocked, by node. */
  readonly blocked: Map<string, string>;
}

const MOST_REASONS = 20;

/** What waits, and what is under way, of runs that go on. */
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
          workOf(run).tasks.set(event.task, 'working');
          break;
        case 'task.retry':
          workOf(run).tasks.set(event.task, 'waiting');
          break;
        case 'task.ended':
        case 'task.orphaned':
          works.get(run)?.tasks.delete(event.task);
          break;
        case 'node.status':
          if (event.to === 'blocked') workOf(run).blocked.set(event.node, kindOf(event.blockReason));
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
    for (const { tasks } of works.values()) for (const is of tasks.values()) if (is === state) count += 1;
    return count;
  };
  shelf.gauge('runs_driven', 'Runs that are driven now.', () => host.driven().length);
  const decisions = countOpenDecisions(host);
  shelf.gauge('decisions_open', 'Decisions of runs that wait for a person.', decisions.count);
  shelf.gauge('tasks_under_way', 'Work that is under way now.', () => tasksThat('working'));
  shelf.gauge('tasks_waiting', 'Work that failed and waits to be tried again.', () => tasksThat('waiting'));
  shelf.gauges('nodes_blocked', 'Nodes of runs that go on which wait for something, by what it is.', ['reason'], () =>
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

/** `approval_required:file_edit` is of the kind `approval_required`. */
function kindOf(reason: string | undefined): string {
  return reason?.split(':', 1)[0] ?? '';
}
