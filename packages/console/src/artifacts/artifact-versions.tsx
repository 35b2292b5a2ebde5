import type { ArtifactId, WireArtifact } from '@signalbox/model';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { useSettings } from '../settings/settings.ts';
import { momentWords } from '../story/words.ts';

const LISTED = 100;

interface ArtifactVersionsProps {
  /** The newest. */
  readonly artifact: WireArtifact;
  readonly chosen: WireArtifact | undefined;
  onChosen(version: WireArtifact | undefined): void;
}

/** The versions of a thing: follows the newest until another is chosen. */
export function ArtifactVersions({ artifact, chosen, onChosen }: ArtifactVersionsProps) {
  const client = useClient();
  const { time } = useSettings();
  const { id, run, key = '', version = 1 } = artifact;
  const isMany = version > 1;
  const { data } = useRead(
    ['versions', run, key, id],
    () => client.artifacts({ run, key, versions: 'all', limit: LISTED }),
    { isEnabled: isMany, keeps: true },
  );
  if (!isMany) return null;
  const older = data?.artifacts.filter(one => one.id !== id) ?? [];
  const pick = (value: string) => onChosen(older.find(one => one.id === (value as ArtifactId)));
  return (
    <select
      className="field"
      aria-label={`Version of ${artifact.name}`}
      value={chosen?.id ?? ''}
      onChange={event => pick(event.target.value)}
    >
      <option value="">version {version}, the newest</option>
      {older.map(one => (
        <option key={one.id} value={one.id}>
          version {one.version}, {momentWords(one.createdAt, time === 'relative' ? 'local' : time, 0)}
        </option>
      ))}
    </select>
  );
}
