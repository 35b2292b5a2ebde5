import type { RunId, RunSummary } from '@signalbox/model';
import { getRouteApi } from '@tanstack/react-router';
import { type ComparePlace, previousOf } from '../compare/compare-place.ts';
import { compareWords as words } from '../compare/compare-words.ts';
import { Compared } from '../compare/compared.tsx';
import { useClient } from '../server/client-context.ts';
import { useLive } from '../server/live.tsx';
import { useRead } from '../server/use-read.ts';
import { Empty, ErrorBox } from '../shell/notices.tsx';
import { offered, usePageActions } from '../shell/page-actions.ts';
import { runStanding } from '../story/words.ts';

const route = getRouteApi('/compare');

/** Two runs side by side, by their addresses. */
export function ComparePage() {
  const client = useClient();
  const { runs } = useLive();
  const { a: given, b } = route.useSearch();
  const navigate = route.useNavigate();
  const known = (runs ?? []).filter(({ kind }) => kind === 'plan');
  const second = known.find(({ id }) => id === b);
  const a = given ?? (second && previousOf(second, known));
  const look = (change: ComparePlace) =>
    void navigate({ search: { ...(a && { a }), ...(b && { b }), ...change }, replace: true });
  const version = [a, b].map(id => known.find(run => run.id === id)?.updatedAt ?? '');
  const { data, error } = useRead(['compare', a, b, ...version], () => client.compare(a as RunId, b as RunId), {
    isEnabled: a !== undefined && b !== undefined,
    keeps: true,
  });
  const canSwap = a !== undefined && b !== undefined;
  const swap = () => look({ ...(b && { a: b }), ...(a && { b: a }) });
  usePageActions(canSwap ? [{ name: words.swap, key: 'x', act: swap }] : []);
  return (
    <div className="room">
      <title>{`${words.title} · Signalbox`}</title>
      <div className="roomhead">
        <h1>{words.title}</h1>
        <RunChoice label={words.first} runs={known} value={a} onRun={id => look({ a: id })} />
        <button type="button" className="button" disabled={!canSwap} onClick={swap} {...offered}>
          {words.swap}
        </button>
        <RunChoice label={words.second} runs={known} value={b} onRun={id => look({ b: id })} />
      </div>
      {a === undefined || b === undefined ? (
        <Empty title={b === undefined || runs === undefined ? words.hint : words.noPrevious} />
      ) : error !== null ? (
        <ErrorBox error={error} title={words.failed} />
      ) : data === undefined ? (
        <Empty title={words.loading} />
      ) : (
        <Compared compared={data} />
      )}
    </div>
  );
}

interface RunChoiceProps {
  readonly label: string;
  readonly runs: readonly RunSummary[];
  readonly value: string | undefined;
  onRun(id: string): void;
}

function RunChoice({ label, runs, value, onRun }: RunChoiceProps) {
  const isListed = value === undefined || runs.some(({ id }) => id === value);
  return (
    <label className="compare-choice">
      <span className="text-muted">{label}</span>
      <select className="field" value={value ?? ''} onChange={event => onRun(event.target.value)}>
        <option value="" disabled>
          {words.choose}
        </option>
        {!isListed && <option value={value}>{value}</option>}
        {runs.map(run => (
          <option key={run.id} value={run.id}>
            {run.record.name} · {run.id.slice(-8)} · {runStanding(run).word}
          </option>
        ))}
      </select>
    </label>
  );
}
