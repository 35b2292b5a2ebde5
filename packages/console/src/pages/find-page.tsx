import { defined, type FindKind, findKind, type RunId } from '@signalbox/model';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { type FindPlace, findPlaceOf } from '../find/find-place.ts';
import { findWords, kindWords } from '../find/find-words.ts';
import { FoundList } from '../find/found-list.tsx';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { Empty, ErrorBox } from '../shell/notices.tsx';
import { SavedPlaces } from '../shell/saved-places.tsx';
import { type Since, sinces } from '../story/runs-search.ts';

const route = getRouteApi('/find');
const PAGE = 30;
const HOURS: Readonly<Record<Since, number>> = { hour: 1, day: 24, week: 168 };
/** The newest so many are counted. */
const MOST_COUNTED = 2_000;

/** One search over everything. The address has it all, so that it can be saved and shared. */
export function FindPage() {
  const client = useClient();
  const place = route.useSearch();
  const navigate = route.useNavigate();
  const look = (change: { readonly [Key in keyof FindPlace]?: FindPlace[Key] | undefined }) =>
    void navigate({ search: before => findPlaceOf({ ...before, ...change }), replace: true });
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const { q = '', kinds = [], since, run } = place;
  const [pages, setPages] = useState(1);
  const searched = useDeferredValue(q.trim());
  const from = useMemo(() => since && new Date(Date.now() - HOURS[since] * 3_600_000).toISOString(), [since, searched]);
  const { data, error, isFetching } = useRead(
    ['find', searched, kinds, from, run, pages],
    () =>
      client.find({
        q: searched,
        limit: Math.min(100, PAGE * pages),
        ...defined({
          kind: kinds.length === 0 ? undefined : [...kinds],
          since: from,
          run: run as RunId | undefined,
        }),
      }),
    { isEnabled: searched !== '', keeps: true },
  );
  const toggle = (kind: FindKind) =>
    look({ kinds: kinds.includes(kind) ? kinds.filter(one => one !== kind) : [...kinds, kind] });
  const hasFilters = kinds.length > 0 || since !== undefined || run !== undefined;
  const runName = data?.found.find(thing => thing.run === run)?.runName ?? run?.slice(-8);
  return (
    <div className="room">
      <title>{`${q === '' ? findWords.title : q} · Signalbox`}</title>
      <div className="roomhead">
        <h1>{findWords.title}</h1>
        <input
          ref={field}
          type="search"
          className="field grow"
          aria-label={findWords.field}
          placeholder={findWords.placeholder}
          maxLength={400}
          value={q}
          onChange={event => {
            setPages(1);
            look({ q: event.target.value });
          }}
        />
        <SavedPlaces
          storageKey="signalbox.finds"
          here={place}
          placeOf={findPlaceOf}
          nameOf={nameOf}
          linkTo={(saved, name) => (
            <Link to="/find" search={saved}>
              {name}
            </Link>
          )}
        />
        <fieldset className="chips">
          <legend className="sr-only">{findWords.kinds}</legend>
          {findKind.options.map(kind => (
            <button
              key={kind}
              type="button"
              className="chip"
              aria-pressed={kinds.includes(kind)}
              onClick={() => toggle(kind)}
            >
              {kindWords[kind][1]}
              {data !== undefined && searched !== '' && <span className="count"> {countOf(data.counts, kind)}</span>}
            </button>
          ))}
          <select
            className="field"
            aria-label={findWords.sinceLabel}
            value={since ?? ''}
            onChange={event => look({ since: sinces.find(name => name === event.target.value) })}
          >
            <option value="">{findWords.anyTime}</option>
            {sinces.map(name => (
              <option key={name} value={name}>
                {findWords.since[name]}
              </option>
            ))}
          </select>
          {run !== undefined && (
            <button
              type="button"
              className="chip"
              aria-pressed
              title={findWords.anywhere}
              onClick={() => look({ run: undefined })}
            >
              {findWords.inRun}: {runName} <span aria-hidden="true">×</span>
              <span className="sr-only">{findWords.anywhere}</span>
            </button>
          )}
        </fieldset>
      </div>
      <div role="status" className="sr-only">
        {data !== undefined && !isFetching && searched !== '' && `${data.found.length} results`}
      </div>
      {searched === '' ? (
        <Empty title={findWords.start}>
          <p>{findWords.hint}</p>
        </Empty>
      ) : error !== null ? (
        <ErrorBox error={error} title={findWords.failed} />
      ) : data === undefined ? (
        <Empty title={findWords.loading} />
      ) : data.found.length === 0 ? (
        <Empty title={findWords.nothing}>
          <p>{findWords.less}</p>
          {hasFilters && (
            <button
              type="button"
              className="button"
              onClick={() => look({ kinds: undefined, since: undefined, run: undefined })}
            >
              {findWords.clear}
            </button>
          )}
        </Empty>
      ) : (
        <>
          <FoundList found={data.found} />
          {data.next !== undefined && PAGE * pages < 100 && (
            <button type="button" className="button mx-auto my-3" onClick={() => setPages(pages + 1)}>
              {findWords.more}
            </button>
          )}
        </>
      )}
      {data !== undefined && data.behind > 0 && <p className="text-muted">{findWords.behind(data.behind)}</p>}
    </div>
  );
}

function countOf(counts: Readonly<Partial<Record<FindKind, number>>>, kind: FindKind): string {
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return `${counts[kind] ?? 0}${all >= MOST_COUNTED ? '+' : ''}`;
}

function nameOf({ q, kinds = [], since, run }: FindPlace): string {
  const words = kinds.map(kind => kindWords[kind][1].toLowerCase()).join(', ');
  return [q, words, since && findWords.since[since].toLowerCase(), run?.slice(-8)].filter(Boolean).join(' · ');
}
