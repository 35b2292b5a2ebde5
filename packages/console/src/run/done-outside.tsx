import type { RunId } from '@signalbox/model';
import { useClient } from '../server/client-context.ts';
import { readPages } from '../server/read-pages.ts';
import { useRead } from '../server/use-read.ts';
import { Moment } from '../shell/moment.tsx';

interface DoneOutsideProps {
  readonly run: RunId;
  /** Only what was done after this frame; everything without one. */
  readonly frame: number | undefined;
}

/** What a run did to the world since a frame: a fork does not take it back, and may do it again. */
export function DoneOutside({ run, frame }: DoneOutsideProps) {
  const client = useClient();
  const { data: frames } = useRead(['frame', run, frame], () => client.frames(run, { from: frame ?? 0, limit: 1 }));
  const { data: pages } = useRead(['work of', run], () =>
    readPages(page => client.tasks(run, { limit: 1000, ...page })),
  );
  const since = frame === undefined ? '' : (frames?.frames[0]?.at ?? '');
  const outside = (pages ?? [])
    .flatMap(({ tasks }) => tasks)
    .filter(({ effects, startedAt }) => effects === 'external' && startedAt !== undefined && startedAt > since);
  if (outside.length === 0) return null;
  return (
    <section aria-label="Done outside" className="risk">
      <p>Done outside since then. A fork does not undo it, and may do it again:</p>
      <ul>
        {outside.map(({ id, node, startedAt = '' }) => (
          <li key={id}>
            <strong>{node}</strong> <Moment at={startedAt} />
          </li>
        ))}
      </ul>
    </section>
  );
}
