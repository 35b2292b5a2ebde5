import type { RunId } from '@signalbox/model';
import { ArtifactView } from '../artifacts/artifact-view.tsx';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { Empty, ErrorBox } from '../shell/notices.tsx';

/** What the run kept for people to see, by kind. `version` changes when there may be more. */
export function ArtifactsTab({ run, version }: { readonly run: RunId; readonly version: string }) {
  const client = useClient();
  const { data, error } = useRead(
    ['artifacts-of', run, version],
    () => client.artifacts({ run, turns: 'none', limit: 200 }),
    {
      keeps: true,
    },
  );
  if (error !== null && data === undefined) return <ErrorBox error={error} title="Artifacts could not be read" />;
  if (data === undefined) return <Empty title="Reading…" />;
  if (data.artifacts.length === 0) return <Empty title="It made nothing to look at yet" />;
  const inOrder = data.artifacts.toSorted((a, b) => a.kind.localeCompare(b.kind) || a.name.localeCompare(b.name));
  return (
    <div className="now">
      {inOrder.map(artifact => (
        <ArtifactView key={artifact.id} artifact={artifact} />
      ))}
    </div>
  );
}
