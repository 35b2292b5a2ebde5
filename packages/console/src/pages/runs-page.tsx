import type { RunSummary } from '@signalbox/model';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef, useState } from 'react';
import { RunFilters } from '../runs/run-filters.tsx';
import { RunHints } from '../runs/run-hints.tsx';
import { RunLine } from '../runs/run-line.tsx';
import { linkToRun } from '../runs/run-link.ts';
import { viewWords, runsWords as words } from '../runs/runs-words.ts';
import { SavedViews } from '../runs/saved-views.tsx';
import { useLive } from '../server/live.tsx';
import { Empty } from '../shell/notices.tsx';
import { useCursor } from '../shell/use-cursor.ts';
import { useNow } from '../shell/use-now.ts';
import { views } from '../story/runs-list.ts';
import { isFound, type RunsSearch } from '../story/runs-search.ts';

const none: readonly RunSummary[] = [];
const LINE_HEIGHT = 37;
const route = getRouteApi('/runs');

/** All runs, newest first, live. The search is in the address. */
export function RunsPage() {
  const { runs, next, readOlder } = useLive();
  const search = route.useSearch();
  const navigate = useNavigate();
  const now = useNow();
  const look = (change: Partial<Record<keyof RunsSearch, string | undefined>>) =>
    void navigate({ to: '/runs', search: before => defined({ ...before, ...change }) as RunsSearch, replace: true });
  const shown = runs?.filter(run => isFound(search, run, now)) ?? [];
  const cursor = useCursor(
    shown.map(({ id }) => id),
    id => {
      const run = shown.find(one => one.id === id);
      if (run !== undefined) void navigate(linkToRun(run));
    },
  );
  const [picked, setPicked] = useState<readonly string[]>();
  const pick = (id: string) => {
    const chosen = picked?.includes(id) ? picked.filter(one => one !== id) : [...(picked ?? []), id];
    setPicked(chosen);
    const times = new Map((runs ?? none).map(run => [run.id as string, run.createdAt]));
    const [a, b] = chosen.toSorted((one, other) => ((times.get(one) ?? '') < (times.get(other) ?? '') ? -1 : 1));
    if (a !== undefined && b !== undefined) void navigate({ to: '/compare', search: { a, b } });
  };
  const box = useRef<HTMLDivElement>(null);
  const lines = useVirtualizer({
    count: shown.length,
    getScrollElement: () => box.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: 8,
    getItemKey: index => shown[index]?.id ?? index,
  });
  const { view = 'all', q = '' } = search;
  return (
    <div className="room room-list">
      <title>{`${words.title} · Signalbox`}</title>
      <div className="roomhead">
        <h1>{words.title}</h1>
        <fieldset className="views">
          <legend className="sr-only">Show</legend>
          {views.map(name => (
            <button
              key={name}
              type="button"
              className="view"
              aria-pressed={view === name}
              onClick={() => look({ view: name === 'all' ? undefined : name })}
            >
              {viewWords[name]}{' '}
              <span className="count">
                {runs?.filter(run => isFound({ ...search, view: name }, run, now)).length ?? '–'}
              </span>
            </button>
          ))}
        </fieldset>
        <input
          type="search"
          className="field grow"
          aria-label={words.search}
          placeholder={words.searchPlaceholder}
          value={q}
          onChange={event => look({ q: event.target.value || undefined })}
        />
        <SavedViews search={search} />
        {(runs?.filter(({ kind }) => kind === 'plan').length ?? 0) > 1 && (
          <button
            type="button"
            className="button"
            aria-pressed={picked !== undefined}
            onClick={() => setPicked(picked === undefined ? [] : undefined)}
          >
            {picked === undefined ? words.compare : picked.length === 0 ? words.chooseTwo : words.chooseOther}
          </button>
        )}
        <Link to="/start" className="button button-main">
          {words.start}
        </Link>
        <RunFilters search={search} runs={runs ?? none} onLook={look} />
      </div>
      {runs === undefined ? (
        <Empty title={words.loading} />
      ) : shown.length === 0 ? (
        <Empty title={runs.length === 0 ? words.none : words.noMatch}>
          {runs.length > 0 && (
            <p>
              <Link to="/runs" search={{}}>
                {words.showAll(runs.length)}
              </Link>
              {next !== undefined && words.orOlder}
            </p>
          )}
          {runs.length === 0 && (
            <p>
              <Link to="/start">{words.startHere}</Link>
              {words.orTerminal}
              <code>{words.command}</code>
            </p>
          )}
        </Empty>
      ) : (
        <div ref={box} className="runs-box">
          <RunHints isWide />
          <ul className="runs" style={{ height: lines.getTotalSize() }}>
            {lines.getVirtualItems().map(({ index, start }) => {
              const run = shown[index];
              return run === undefined ? null : (
                <RunLine
                  key={run.id}
                  run={run}
                  now={now}
                  start={start}
                  isCurrent={run.id === cursor.id}
                  isWide
                  pick={
                    picked === undefined || run.kind !== 'plan'
                      ? undefined
                      : { isPicked: picked.includes(run.id), onPick: () => pick(run.id) }
                  }
                />
              );
            })}
          </ul>
        </div>
      )}
      {next !== undefined && (
        <button type="button" className="button mx-auto my-3" onClick={readOlder}>
          {words.older}
        </button>
      )}
    </div>
  );
}

function defined<Value extends object>(value: Value): Partial<Value> {
  return Object.fromEntries(Object.entries(value).filter(([, given]) => given !== undefined)) as Partial<Value>;
}
