import { type ArtifactId, type ArtifactKind, artifactKind } from '@signalbox/model';
import { useState } from 'react';
import { ArtifactList } from '../artifacts/artifact-list.tsx';
import { ArtifactView } from '../artifacts/artifact-view.tsx';
import { Empty, ErrorBox } from '../frame/notices.tsx';
import { useCursor } from '../frame/use-cursor.ts';
import { useClient } from '../server/client-context.ts';
import { useLive } from '../server/live.tsx';
import { useRead } from '../server/use-read.ts';

const LISTED = 500;

/** What runs kept for people to see, newest first. */
export function ArtifactsPage() {
  const client = useClient();
  const { runs = [] } = useLive();
  const [kind, setKind] = useState<ArtifactKind>();
  const [query, setQuery] = useState('');
  const [isAll, setIsAll] = useState(false);
  const [after, setAfter] = useState<ArtifactId>();
  // An artifact comes with a commit of its run: which of them moved last says when to look again.
  const moved = runs.reduce((last, { record }) => (record.updatedAt > last ? record.updatedAt : last), '');
  const { data, error } = useRead(
    ['artifacts', kind, isAll, after, moved],
    () =>
      client.artifacts({
        limit: LISTED,
        versions: isAll ? 'all' : 'last',
        ...(kind !== undefined && { kind }),
        ...(after !== undefined && { after }),
      }),
    { keeps: true },
  );
  const names = new Map<string, string>(runs.map(({ id, record }) => [id, record.name]));
  const nameOf = (run: string) => names.get(run) ?? run.slice(-8);
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const found = (data?.artifacts ?? []).filter(({ name, key = '', run }) => {
    const text = `${name} ${key} ${run} ${nameOf(run)}`.toLowerCase();
    return words.every(word => text.includes(word));
  });
  const cursor = useCursor(found.map(({ id }) => id));
  const shown = found.find(({ id }) => id === cursor.id) ?? found[0];
  if (error !== null && data === undefined) return <ErrorBox error={error} title="Artifacts could not be read" />;
  return (
    <div className="room queue">
      <title>Artifacts · Signalbox</title>
      <div className="roomhead">
        <h1>Artifacts</h1>
        <input
          type="search"
          className="field grow"
          aria-label="Search in artifacts"
          placeholder="a name, a key, a run…"
          value={query}
          onChange={event => setQuery(event.target.value)}
        />
        <select
          className="field"
          aria-label="Kind"
          value={kind ?? ''}
          onChange={event => setKind(artifactKind.options.find(one => one === event.target.value))}
        >
          <option value="">any kind</option>
          {artifactKind.options.map(name => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <label className="check">
          <input type="checkbox" checked={isAll} onChange={event => setIsAll(event.target.checked)} />
          all versions
        </label>
        {data?.next !== undefined && (
          <button type="button" className="button" onClick={() => setAfter(data.next)}>
            Older
          </button>
        )}
        {after !== undefined && (
          <button type="button" className="button" onClick={() => setAfter(undefined)}>
            Newest
          </button>
        )}
      </div>
      {shown === undefined ? (
        <Empty
          title={
            data === undefined
              ? 'Looking…'
              : data.artifacts.length === 0
                ? 'What plans and agents make for you to look at appears here.'
                : 'No artifact is like that'
          }
        />
      ) : (
        <div className="queue-panes">
          <ArtifactList artifacts={found} current={shown.id} nameOf={nameOf} onCurrent={cursor.setId} />
          <ArtifactView key={shown.id} artifact={shown} />
        </div>
      )}
    </div>
  );
}
