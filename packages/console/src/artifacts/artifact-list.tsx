import type { RunId, WireArtifact } from '@signalbox/model';
import { Moment } from '../frame/moment.tsx';

interface ArtifactListProps {
  readonly artifacts: readonly WireArtifact[];
  readonly current: string | undefined;
  nameOf?(run: RunId): string;
  onCurrent(artifact: string): void;
}

export function ArtifactList({ artifacts, current, nameOf, onCurrent }: ArtifactListProps) {
  return (
    <ul className="artifact-list" aria-label="Artifacts">
      {artifacts.map(({ id, name, kind, key, version, run, createdAt }) => (
        <li key={id} data-item={id} data-current={id === current || undefined}>
          <button
            type="button"
            className="queue-item"
            aria-current={id === current ? 'true' : undefined}
            onClick={() => onCurrent(id)}
          >
            <span className="queue-item-head">
              <span className="truncate font-medium">{name}</span>
              <span className="kind">{kind}</span>
              <Moment at={createdAt} className="text-faint" />
            </span>
            <span className="queue-item-words">
              {nameOf?.(run)} {key !== undefined && `${key} · version ${version}`}
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}
