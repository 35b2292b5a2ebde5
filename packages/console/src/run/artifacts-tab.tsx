import type { RunId } from '@signalbox/model';
import { ArtifactView } from '../artifacts/artifact-view.tsx';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { Empty, ErrorBox } from '../shell/notices.tsx';

/** The run's artifacts, by kind. `version` changes when there may be more. */
export function ArtifactsTab({ run, version }: { readonly run: RunId; readonly version: string }) {
  const client = useClient();
  const { data, error } = useRead(
    ['artifacts-of', run, version],
    () => client.artifacts({ run, turns: 'none', limit: 200 }),
    {
      keeps: true,
    },
  );
  if (error !== null && data === undefined) return <ErrorBox error={error} title="Could not load artifacts" />;
  if (data === undefined) return <Empty title="Loading…" />;
  if (data.artifacts.length === 0) return <Empty title="No artifacts yet" />;
  const inOrder = data.artifacts.toSorted((a, b) => a.kind.localeCompare(b.kind) || a.name.localeCompare(b.name));
  return (
    <div className="now">
      {inOrder.map(artifact => (
        <ArtifactView key={artifact.id} artifact={artifact} />
      ))}
    </div>
  );
}
