import { type Json, type RunId, runStatus, type TaskStatus } from '@signalbox/model';
import { isTaskUnderWay, type OwnerId, type RunReader, type RunRecord, type Task } from '@signalbox/runs';

/** Why nodes of an interrupted run do not go on. */
export const INTERRUPTED = 'interrupted';

/** The stop reason that an interrupted run is shown with. */
const WHY = 'Its process ended without stopping it.';

/** The process that owns the data directory now; `unknown` if that cannot be found out, and then nothing is called interrupted. */
export type LiveOwner = OwnerId | 'nobody' | 'unknown';

interface InterruptedRun extends RunRecord {
  readonly interrupted: true;
}

/** Whether a run, as shown by `withInterrupted`, was left behind by a process that ended without stopping it. */
export function isInterrupted(record: RunRecord): record is InterruptedRun {
  return 'interrupted' in record;
}

/**
 * Runs in their actual state: what is stored as running, but by a process that is gone, is shown as interrupted. Nothing stored changes.
 *
 * 1. An interrupted run is `paused`, with the reason and `interrupted: true`; filters go by that.
 * 2. Its running nodes are `blocked` by `interrupted`, in its latest frame: earlier ones are history.
 * 3. Its tasks under way are `orphaned`.
 */
export function withInterrupted<
  Reader extends Pick<RunReader, 'run' | 'runs' | 'children' | 'at' | 'valueAt' | 'task' | 'tasks'>,
>(reader: Reader, owner: () => LiveOwner): Reader {
  const isLeft = ({ status, owner: driver }: RunRecord): boolean => {
    if (status !== 'running' && status !== 'queued') return false;
    const now = owner();
    return now !== 'unknown' && driver !== now;
  };
  const shown = (record: RunRecord): RunRecord =>
    isLeft(record) ? ({ ...record, status: 'paused', stopReason: WHY, interrupted: true } as InterruptedRun) : record;
  const leftRun = async (run: RunId): Promise<RunRecord | undefined> => {
    const record = await reader.run(run);
    return record !== undefined && isLeft(record) ? record : undefined;
  };
  return {
    ...reader,
    async run(run: RunId) {
      const record = await reader.run(run);
      return record && shown(record);
    },
    async children(run: RunId) {
      return (await reader.children(run)).map(shown);
    },
    async runs(filter: Parameters<RunReader['runs']>[0] = {}) {
      const asked = new Set(filter.status ?? runStatus.options);
      const status = asked.has('paused') ? [...asked.union(new Set(['running', 'queued'] as const))] : [...asked];
      const page = await reader.runs(filter.status === undefined ? filter : { ...filter, status });
      return { ...page, items: page.items.map(shown).filter(record => asked.has(record.status)) };
    },
    async at(run: RunId, space: Parameters<RunReader['at']>[1], frame: number) {
      const rows = await reader.at(run, space, frame);
      const left = space === 'status' ? await leftRun(run) : undefined;
      if (left === undefined || frame < left.frames) return rows;
      return new Map([...rows].map(([key, row]) => [key, shownStatus(row)]));
    },
    async valueAt(run: RunId, space: Parameters<RunReader['valueAt']>[1], key: string, frame: number) {
      const row = await reader.valueAt(run, space, key, frame);
      const left = space === 'status' && row !== undefined ? await leftRun(run) : undefined;
      return left === undefined || row === undefined || frame < left.frames ? row : shownStatus(row);
    },
    async task(run: RunId, id: Parameters<RunReader['task']>[1]) {
      const task = await reader.task(run, id);
      return task && (await leftRun(run)) !== undefined ? shownTask(task) : task;
    },
    async tasks(run: RunId, filter: Parameters<RunReader['tasks']>[1] = {}) {
      if ((await leftRun(run)) === undefined) return reader.tasks(run, filter);
      const { status: asked } = filter;
      const under: readonly TaskStatus[] = asked?.includes('orphaned') ? ['running', 'canceling'] : [];
      const found = await reader.tasks(run, asked === undefined ? filter : { ...filter, status: [...asked, ...under] });
      return found.map(shownTask).filter(({ status }) => asked === undefined || asked.includes(status));
    },
  };
}

function shownStatus(row: Json): Json {
  const isRunning = typeof row === 'object' && row !== null && 'status' in row && row.status === 'running';
  return isRunning ? { ...row, status: 'blocked', reason: INTERRUPTED } : row;
}

function shownTask(task: Task): Task {
  return isTaskUnderWay(task.status) ? { ...task, status: 'orphaned' } : task;
}
