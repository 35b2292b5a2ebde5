import { Bug, type Clock, type ErrorEnvelope, err, failure, ok, type Result, type RunId } from '@signalbox/model';
import type { TaskOutcome, TaskProgress } from '@signalbox/plan';
import { type OwnToolPort, ownToolReply, type RunOrigin, type WriteSet } from '@signalbox/runs';
import type { Store } from '@signalbox/store';
import type { HostExecutor } from '../host/host-executor.ts';
import type { StorageDesk } from '../storage/storage-desk.ts';
import { workWithFiles } from '../workspaces/work-with-files.ts';
import type { WorkspaceDesk } from '../workspaces/workspace-desk.ts';
import { commitMessage } from './commit-message.ts';
import { withOwnerTime } from './owner-time.ts';
import type { DrivenWhere, PlanThreads } from './plan-threads.ts';
import { rowsText } from './rows-text.ts';
import type { HostCalls, ReadMethod, ThreadHost } from './thread-api.ts';

export interface ThreadHostPorts {
  readonly store: Store;
  /** Stamps everything that a thread commits. */
  readonly clock: Clock;
  /** Where a thread's commits wait for space. */
  readonly storage: Pick<StorageDesk, 'commit' | 'put'>;
  readonly executor: HostExecutor;
  /** Where runs are driven, from the thread's view. */
  readonly where: DrivenWhere;
  readonly onProgress: (run: RunId, execution: string, progress: TaskProgress) => void;
  /** Calls a tool of a run's plan in its thread. */
  readonly tools: Pick<PlanThreads, 'callTool' | 'abortTool'>;
  readonly workspaces: WorkspaceDesk | undefined;
  readonly onSubRun: HostCalls['subRun'];
  readonly onTrace: HostCalls['trace'];
  /** The duration of a frame, in milliseconds. */
  readonly onFramed: (ms: number) => void;
}

const readable: readonly ReadMethod[] = [
  ...(['run', 'children', 'at', 'transitions', 'events'] as const),
  ...(['tasks', 'decisions', 'artifact', 'artifactList'] as const),
];

/**
 * The host for one thread, and its running work. It accepts requests for runs driven in the thread and for their sub-plans only: the code
 * of one plan cannot affect runs of others, whatever it sends.
 */
export function threadHost(ports: ThreadHostPorts): ThreadHost {
  const { store, clock, storage, executor, tools, workspaces, where, onProgress, onSubRun, onTrace, onFramed } = ports;
  const going = new Map<string, AbortController>();
  /** By execution and call: the files and commands of a tool's call. */
  const desks = new Map<string, Parameters<OwnToolPort['call']>[1]['operate']>();
  /** The last commit of each run that is not stored yet. */
  const preparing = new Map<RunId, Promise<unknown>>();
  const committing = new Set<Promise<unknown>>();

  /** The tools that the plan brings along: their code runs in the thread, their files and commands are the host's. */
  function ownTools(run: RunId, execution: string): OwnToolPort {
    return {
      async call(call, { signal, operate }) {
        const key = `${execution}\n${call.id}`;
        const abort = () => tools.abortTool(run, execution, call.id);
        desks.set(key, operate);
        signal.addEventListener('abort', abort, { once: true });
        try {
          return ownToolReply.parse(await tools.callTool(run, execution, call));
        } finally {
          desks.delete(key);
          signal.removeEventListener('abort', abort);
        }
      },
    };
  }

  /** Whether the run belongs to this thread, by what is known of it or by how it is created. */
  async function isOwn(run: RunId, created?: RunOrigin): Promise<boolean> {
    const driven = where(run);
    if (driven !== undefined) return driven === 'here';
    const origin = (await store.run(run))?.origin ?? created;
    return origin?.kind === 'sub-plan' && isOwn(origin.run);
  }

  return {
    calls: {
      commit(text) {
        const { writes, guard, frames } = commitMessage(text);
        for (const ms of frames) onFramed(ms);
        const committed = inOrder(guard.run, () => prepared(writes, guard.run)).then(found =>
          found.ok ? storage.commit(withOwnerTime(found.value, clock.now()), guard) : found,
        );
        committing.add(committed);
        const over = () => void committing.delete(committed);
        committed.then(over, over);
        return committed;
      },
      putBlobs: (run, contents) => storage.put(run, contents),
      workspace: async (run, request) =>
        (await isOwn(run)) ? workWithFiles(workspaces, run, request) : err(notOwn(run)),
      async read(method, args) {
        if (method === 'at') return rowsText(await store.at(...(args as Parameters<Store['at']>)));
        if (!readable.includes(method)) throw new Bug(`a thread asked to read ${method}`);
        return (store[method] as (...args: readonly unknown[]) => Promise<unknown>)(...args);
      },
      async execute(execution, request) {
        const refused = await notFor(request.run);
        if (refused !== undefined) return refused;
        const control = new AbortController();
        going.set(execution, control);
        try {
          return await executor.execute(
            request,
            control.signal,
            progress => onProgress(request.run, execution, progress),
            ownTools(request.run, execution),
          );
        } finally {
          going.delete(execution);
        }
      },
      timeOver: async run => {
        if (await isOwn(run)) await executor.timeOver(run);
      },
      allow: async (request, doubts) => (await notFor(request.run)) ?? executor.allow(request, doubts),
      async operate(execution, call, operation) {
        const desk = desks.get(`${execution}\n${call}`);
        return desk === undefined ? { ok: false, message: 'the call has ended' } : desk(operation);
      },
      abort: execution => going.get(execution)?.abort(new Error('canceled')),
      subRun(run, parent, driven) {
        if (where(parent) === 'here' && where(run) !== 'elsewhere') onSubRun(run, parent, driven);
      },
      trace(run, entry) {
        if (where(run) === 'here') onTrace(run, entry);
      },
      framed(frames) {
        for (const ms of frames) if (Number.isFinite(ms)) onFramed(ms);
      },
    },
    async lost() {
      for (const control of going.values()) control.abort(new Error('its thread was lost'));
      await Promise.allSettled(committing);
    },
  };

  /** A run may send its next commit before this one is answered: they are prepared, and so stored, one after the other. */
  async function inOrder<T>(run: RunId, prepare: () => Promise<T>): Promise<T> {
    const before = preparing.get(run);
    const own = before === undefined ? prepare() : before.then(prepare, prepare);
    preparing.set(run, own);
    try {
      return await own;
    } finally {
      if (preparing.get(run) === own) preparing.delete(run);
    }
  }

  async function prepared(
    writes: WriteSet,
    run: RunId,
  ): Promise<Result<WriteSet, ErrorEnvelope<'run/writes-refused'>>> {
    const created = writes.run?.kind === 'create' ? writes.run.run.origin : undefined;
    if (!(await isOwn(run, created))) return err(notOwn(run));
    return ok((await workspaces?.attach(writes, run)) ?? writes);
  }

  async function notFor(run: RunId): Promise<TaskOutcome | undefined> {
    if (await isOwn(run)) return undefined;
    const { code, message } = notOwn(run);
    return { kind: 'failed', error: { class: 'terminal', code, message } };
  }
}

function notOwn(run: RunId): ErrorEnvelope<'run/writes-refused'> {
  return failure('run/writes-refused', {
    message: `Run ${run} is not driven by the thread that asks for it.`,
    suggestion: 'Nothing was done. A plan acts on its own run only.',
    details: { run },
  });
}
