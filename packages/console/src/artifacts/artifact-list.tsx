import type { RunId, WireArtifact } from '@signalbox/model';
import { Moment } from '../shell/moment.tsx';

interface ArtifactListProps {
  readonly artifacts: readonly WireArtifact[];
  readonly current: string | undefined;
  nameOf?(run: RunId): string;
  /** What a line is called by whoever moves through the list. */
  placeOf(artifact: WireArtifact): string;
  onCurrent(artifact: WireArtifact): void;
}

export function ArtifactList({ artifacts, current, nameOf, placeOf, onCurrent }: ArtifactListProps) {
  return (
    <ul className="artifact-list" aria-label="Artifacts">
      {artifacts.map(artifact => {
        const { id, name, kind, key, version, run, createdAt } = artifact;
        return (
          <li key={placeOf(artifact)} data-item={placeOf(artifact)} data-current={id === current || undefined}>
            <button
              type="button"
              className="queue-item"
              aria-current={id === current ? 'true' : undefined}
              onClick={() => onCurrent(artifact)}
            >
              <span className="queue-item-head">
                <span className="truncate font-medium">{name}</span>
                <span className="kind">{kind}</span>
                <Moment at={createdAt} className="text-faint" />
              </span>
              <span className="queue-item-words">
                {[nameOf?.(run), key, key !== undefined && `version ${version}`].filter(Boolean).join(' · ')}
              </span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}
