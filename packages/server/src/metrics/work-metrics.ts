import type { CommitNotice, RunHost } from '@signalbox/app/host';
import { boundedLabel } from './bounded-label.ts';
import type { MetricShelf } from './metric-shelf.ts';
import { restsAfter } from './rests-after.ts';

const FRAME_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
const INTERVAL_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30, 300];
const MOST_CODES = 100;

/** Frames, work, errors and statuses of runs, counted as they are committed. */
export function workMetrics(shelf: MetricShelf, { feed, activity }: Pick<RunHost, 'feed' | 'activity'>): () => void {
  const frames = shelf.counter('frames_total', 'Committed frames, by what triggered them.', ['trigger']);
  const duration = shelf.histogram(
    'frame_duration_seconds',
    'How long a frame took, from its snapshot to the end of its flush.',
    FRAME_BUCKETS,
  );
  const interval = shelf.histogram(
    'frame_interval_seconds',
    'Time between two frames of a run while it is active.',
    INTERVAL_BUCKETS,
  );
  const tasks = shelf.counter('tasks_ended_total', 'Work that ended, by outcome.', ['outcome']);
  const errors = shelf.counter('errors_total', 'Failures, by where they happened and the error code.', [
    'where',
    'code',
  ]);
  const statuses = shelf.counter('run_status_changes_total', 'Runs that reached a status.', ['status']);
  const codeOf = boundedLabel(MOST_CODES);
  /** The time of the last frame, for active runs. */
  const lastFrame = new Map<string, number>();
  const failed = (where: string, code: string) => errors.inc({ where, code: codeOf(code) });

  const count = ({ run, events }: CommitNotice): void => {
    for (const { event } of events) {
      switch (event.type) {
        case 'frame.committed': {
          const at = Date.parse(event.ts);
          const last = lastFrame.get(run);
          frames.inc({ trigger: event.trigger.kind });
          if (last !== undefined) interval.observe(Math.max(0, at - last) / 1000);
          lastFrame.set(run, at);
          break;
        }
        case 'task.ended':
          tasks.inc({ outcome: event.outcome });
          if (event.error !== undefined) failed('task', event.error.code);
          break;
        case 'task.retry':
          failed('attempt', event.error.code);
          break;
        case 'handler.failed':
          failed('handler', 'handler-failed');
          break;
        case 'effect.failed':
          failed('effect', 'effect-failed');
          break;
        case 'run.status':
          statuses.inc({ status: event.to });
          if (event.error !== undefined) failed('run', event.error.code);
          break;
        default:
          break;
      }
    }
    // At the end, because the frame with which a run rests may come after its status.
    if (restsAfter(events)) lastFrame.delete(run);
  };
  const stops = [
    feed.subscribe('all', count),
    activity.subscribe(fact => {
      if (fact.kind === 'framed') duration.observe(fact.ms / 1000);
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}
