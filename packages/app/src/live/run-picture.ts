import type { RunId, RunSummary, TreeNode, WireDecision, WireTask } from '@signalbox/model';
import type { CommitNotice } from '@signalbox/runs';
import { decisionView } from '../contract-view/decision-view.ts';
import { runSummaryOf } from '../contract-view/run-view.ts';
import { taskView, UNDER_WAY } from '../contract-view/task-view.ts';
import { readTree, withAsking } from '../contract-view/tree-view.ts';
import type { RunHost } from '../host/run-host.ts';
import { timerWait } from '../host/timer-wait.ts';
import type { Machine } from '../machine.ts';

/** The current state of a run, for all its watchers. */
export interface RunPicture {
  readonly summary: RunSummary;
  readonly tree: readonly TreeNode[];
  readonly decisions: readonly WireDecision[];
  readonly tasks: readonly WireTask[];
}

interface PictureListener {
  committed(notice: CommitNotice): void;
  pictured(picture: RunPicture): void;
}

/** The least time between two reads of a run: a run that commits all the time is read ten times a second. */
export const PICTURE_MS = 100;

/** Pictures of watched runs. Each is read once for all its watchers. */
export interface RunPictures {
  /** Call the returned function to stop watching. */
  watch(run: RunId, listener: PictureListener): () => void;
}

/** `onFault` gets the error of a failed read; the next commit tries again. */
export function createRunPictures(
  host: RunHost,
  timers: Machine['timers'],
  onFault: (thrown: unknown) => void,
): RunPictures {
  const studios = new Map<RunId, { readonly listeners: Set<PictureListener>; close(): void }>();
  return {
    watch(run, listener) {
      let studio = studios.get(run);
      if (studio === undefined) {
        const listeners = new Set<PictureListener>();
        const close = openStudio(host, timers, onFault, run, listeners);
        studio = { listeners, close };
        studios.set(run, studio);
      }
      const { listeners, close } = studio;
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0 || studios.get(run)?.listeners !== listeners) return;
        studios.delete(run);
        close();
      };
    },
  };
}

/** Takes a picture after each commit, at most once per `PICTURE_MS` and never two at once. */
function openStudio(
  host: RunHost,
  timers: Machine['timers'],
  onFault: (thrown: unknown) => void,
  run: RunId,
  listeners: ReadonlySet<PictureListener>,
): () => void {
  let isClosed = false;
  let isStale = false;
  let isResting = false;
  let endRest: (() => void) | undefined;
  let awaited: unknown;

  const unsubscribe = host.feed.subscribe(run, notice => {
    for (const listener of [...listeners]) listener.committed(notice);
    if (notice.events.length > 0 || notice.stream.length === 0) touch();
  });

  function touch(): void {
    isStale = true;
    if (!isResting && !isClosed) void take();
  }

  async function take(): Promise<void> {
    isResting = true;
    isStale = false;
    const picture = await readPicture(host, run).catch(thrown => {
      if (!isClosed) onFault(thrown);
      return undefined;
    });
    if (isClosed) return;
    if (picture !== undefined) for (const listener of [...listeners]) listener.pictured(picture);
    watchEnd();
    endRest = timers.after(PICTURE_MS, () => {
      isResting = false;
      if (isStale) void take();
    });
  }

  /** A run can lose its driver without a commit, which must show too. */
  function watchEnd(): void {
    const finished = host.finished(run);
    if (finished === undefined || finished === awaited) return;
    awaited = finished;
    void finished.then(touch, touch);
  }

  return () => {
    isClosed = true;
    unsubscribe();
    endRest?.();
  };
}

async function readPicture(host: RunHost, run: RunId): Promise<RunPicture | undefined> {
  const { reader } = host;
  const record = await reader.run(run);
  if (record === undefined) return undefined;
  const [tree, decisions, tasks] = await Promise.all([
    readTree(reader, run, record.frames),
    reader.decisions({ run, status: ['open'] }),
    reader.tasks(run, { status: UNDER_WAY }),
  ]);
  return {
    summary: runSummaryOf(record, {
      driven: host.driven().includes(run),
      openDecisions: decisions.length,
      until: await timerWait(reader, record, tasks),
    }),
    tree: withAsking(tree, decisions).map(({ node }) => node),
    decisions: decisions.map(({ decision }) => decisionView(run, decision)),
    tasks: tasks.map(taskView),
  };
}
