import type { RunId, WireTask } from '@signalbox/model';
import { PatchFiles } from '../run/patch.tsx';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { Empty, ErrorBox } from '../shell/notices.tsx';
import { Block } from './block.tsx';

/** The file changes of an agent's turn, once it has ended. */
export function TurnChanges({ run, task }: { readonly run: RunId; readonly task: WireTask }) {
  const client = useClient();
  const { id, endedAt } = task;
  const { data, error } = useRead(
    ['turn-diff', run, id, endedAt],
    () => client.artifacts({ run, task: id, kind: 'diff', turns: 'with' }),
    { isEnabled: endedAt !== undefined },
  );
  const diff = data?.artifacts.find(({ name }) => name === 'diff.patch');
  const content = useRead(
    ['artifact-content', diff?.id, diff?.digest],
    () => client.artifactContent((diff as NonNullable<typeof diff>).id),
    { isEnabled: diff !== undefined },
  );
  if (endedAt === undefined) return null;
  const failed = error ?? content.error;
  return (
    <Block title="Changes">
      {failed !== null && <ErrorBox error={failed} title="Could not load the changes" />}
      {failed === null && (diff === undefined || content.data === undefined) && <Waiting isOver={data !== undefined} />}
      {diff !== undefined && content.data !== undefined && (
        <>
          <p className="text-muted">{diff.diff?.summary}</p>
          <PatchFiles patch={new TextDecoder().decode(content.data)} />
        </>
      )}
    </Block>
  );
}

function Waiting({ isOver }: { readonly isOver: boolean }) {
  return <Empty title={isOver ? 'No diff for this turn' : 'Loading…'} />;
}
