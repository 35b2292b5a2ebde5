import { Bug, type RunId } from '@signalbox/model';
import type { TaskProgress } from '@signalbox/plan';
import type { Store } from '@signalbox/store';
import type { HostExecutor } from '../runs/host-executor.ts';
import type { StorageDesk } from '../storage/storage-desk.ts';
import { workWithFiles } from '../workspaces/work-with-files.ts';
import type { WorkspaceDesk } from '../workspaces/workspace-desk.ts';
import type { HostCalls, ReadMethod, ThreadHost } from './thread-api.ts';

export interface ThreadHostPorts {
  readonly store: Store;
  /** Where what a thread commits waits for room. */
  readonly storage: Pick<StorageDesk, 'commit' | 'put'>;
  readonly executor: HostExecutor;
  readonly onProgress: (run: RunId, execution: string, progress: TaskProgress) => void;
  readonly workspaces: WorkspaceDesk | undefined;
  readonly onSubRun: HostCalls['subRun'];
  readonly onTrace: HostCalls['trace'];
  readonly onFramed: HostCalls['framed'];
}

const readable: readonly ReadMethod[] = [
  ...(['run', 'children', 'at', 'transitions', 'events'] as const),
  ...(['tasks', 'decisions', 'artifact', 'artifactList'] as const),
];

/** What one thread may ask for, and the work that goes on for it. */
export function threadHost(ports: ThreadHostPorts): ThreadHost {
  const { store, storage, executor, workspaces, onProgress, onSubRun, onTrace, onFramed } = ports;
  const going = new Map<string, AbortController>();
  return {
    calls: {
      async commit(writes, guard) {
        return storage.commit((await workspaces?.attach(writes, guard.run)) ?? writes, guard);
      },
      putBlobs: (run, contents) => storage.put(run, contents),
      workspace: (run, request) => workWithFiles(workspaces, run, request),
      async read(method, args) {
        if (!readable.includes(method)) throw new Bug(`a thread asked to read ${method}`);
        return (store[method] as (...args: readonly unknown[]) => Promise<unknown>)(...args);
      },
      async execute(execution, request) {
        const control = new AbortController();
        going.set(execution, control);
        try {
          return await executor.execute(request, control.signal, progress =>
            onProgress(request.run, execution, progress),
          );
        } finally {
          going.delete(execution);
        }
      },
      timeOver: run => executor.timeOver(run),
      allow: (request, doubts) => executor.allow(request, doubts),
      abort: execution => going.get(execution)?.abort(new Error('canceled')),
      subRun: onSubRun,
      trace: onTrace,
      framed: onFramed,
    },
    lost() {
      for (const control of going.values()) control.abort(new Error('its thread was lost'));
    },
  };
}
