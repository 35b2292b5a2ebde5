import type { ErrorEnvelope, RunId, WireChunk, WireEvent, WireTask } from '@signalbox/model';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useRef } from 'react';
import { readStream } from '../run/read-stream.ts';
import { useClient } from '../server/client-context.ts';
import { readPages } from '../server/read-pages.ts';
import { useRead } from '../server/use-read.ts';

/** The tasks of a node, read again when one of them changes. */
export function useTasks(run: RunId, node: string, events: readonly WireEvent[]): readonly WireTask[] | undefined {
  const client = useClient();
  const moved = useMemo(
    () => events.findLast(event => event.node === node && event.type.startsWith('task.'))?.seq ?? -1,
    [events, node],
  );
  const { data } = useRead(
    ['tasks', run, node, moved],
    () => readPages(page => client.tasks(run, { node, limit: 1000, ...page })),
    { keeps: true },
  );
  return useMemo(() => data?.flatMap(({ tasks }) => tasks), [data]);
}

/** The output and transcript of a task, as far as it could be read, and why no more of it could be. */
interface StreamRead {
  readonly chunks: readonly WireChunk[] | undefined;
  readonly error: ErrorEnvelope | null;
}

/** The output and transcript of a task. `version` changes when there may be more. */
export function useStream(run: RunId, task: WireTask | undefined, version: number): StreamRead {
  const client = useClient();
  const isOver = task?.endedAt !== undefined;
  const known = useRef<{ readonly task: string; readonly chunks: readonly WireChunk[] }>(undefined);
  const { data, error } = useQuery<readonly WireChunk[], ErrorEnvelope>({
    queryKey: ['stream', run, task?.id, isOver ? 'all' : version],
    queryFn: async () => {
      const id = task?.id ?? '';
      const chunks = await readStream(client, run, id, known.current?.task === id ? known.current.chunks : []);
      known.current = { task: id, chunks };
      return chunks;
    },
    enabled: task !== undefined,
    // Each version has all chunks: while an agent speaks, old ones are let go.
    gcTime: isOver ? 300_000 : 0,
    placeholderData: (before, query) => (query?.queryKey[2] === task?.id ? before : undefined),
  });
  const before = known.current?.task === task?.id ? known.current?.chunks : undefined;
  return { chunks: data ?? before, error };
}

/** A node's input, in a frame or now. `moved` changes when the input may have changed. */
export function useNodeInput(run: RunId, node: string, frame: number | undefined, moved: number) {
  const client = useClient();
  return useRead(['node-input', run, node, frame ?? `now ${moved}`], () => client.nodeInput(run, node, frame), {
    keeps: true,
  });
}
