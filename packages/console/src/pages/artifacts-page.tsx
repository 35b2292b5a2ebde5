import { artifactKind, defined, type WireArtifact } from '@signalbox/model';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { ArtifactList } from '../artifacts/artifact-list.tsx';
import { type ArtifactsPlace, artifactsPlaceOf, thingOf } from '../artifacts/artifact-thing.ts';
import { ArtifactView } from '../artifacts/artifact-view.tsx';
import { useClient } from '../server/client-context.ts';
import { useLive } from '../server/live.tsx';
import { useRead } from '../server/use-read.ts';
import { Empty, Refused } from '../shell/notices.tsx';
import { useCursor } from '../shell/use-cursor.ts';

const route = getRouteApi('/artifacts');
const LISTED = 500;

/** What runs kept for people to see, newest first. */
export function ArtifactsPage() {
  const client = useClient();
  const { runs = [] } = useLive();
  const { kind: askedKind, q: query = '', at, versions } = route.useSearch();
  const navigate = route.useNavigate();
  const look = (change: Partial<Record<keyof ArtifactsPlace, string | undefined>>) =>
    void navigate({ search: before => artifactsPlaceOf({ ...before, ...change }), replace: true });
  const kind = artifactKind.options.find(one => one === askedKind);
  const isAll = versions === 'all';
  const [after, setAfter] = useState<string>();
  // An artifact comes with a commit of its run: which of them moved last says when to look again.
  const moved = runs.reduce((last, { record }) => (record.updatedAt > last ? record.updatedAt : last), '');
  const { data, error } = useRead(
    ['artifacts', kind, isAll, after, moved],
    () =>
      client.artifacts({
        limit: LISTED,
        versions: isAll ? 'all' : 'last',
        ...defined({ kind, after }),
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
  // A thing stays chosen when it gets its next version.
  const placeOf = (one: WireArtifact) => (isAll ? one.id : thingOf(one));
  const places = found.map(placeOf);
  const cursor = useCursor(places);
  const { setId, id: current } = cursor;
  const asked = useRef(at);
  useEffect(() => {
    if (asked.current !== undefined) setId(asked.current);
  }, [setId]);
  const wanted = current ?? asked.current;
  const shown = found.find(one => placeOf(one) === wanted) ?? found[0];
  const choose = (artifact: WireArtifact) => {
    setId(placeOf(artifact));
    look({ at: placeOf(artifact) });
  };
  if (error !== null && data === undefined)
    return <Refused page="Artifacts" error={error} title="Artifacts could not be read" />;
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
          onChange={event => look({ q: event.target.value })}
        />
        <select
          className="field"
          aria-label="Kind"
          value={kind ?? ''}
          onChange={event => look({ kind: event.target.value })}
        >
          <option value="">any kind</option>
          {artifactKind.options.map(name => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <label className="check">
          <input
            type="checkbox"
            checked={isAll}
            onChange={event => look({ versions: event.target.checked ? 'all' : undefined, at: undefined })}
          />
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
          <ArtifactList artifacts={found} current={shown.id} nameOf={nameOf} placeOf={placeOf} onCurrent={choose} />
          <ArtifactView key={placeOf(shown)} artifact={shown} />
        </div>
      )}
    </div>
  );
}
