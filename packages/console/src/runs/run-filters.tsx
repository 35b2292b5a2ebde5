import type { RunSummary } from '@signalbox/model';
import { useState } from 'react';
import { facetsOf, kinds, type RunsSearch, type Since, sinces } from '../story/runs-search.ts';

const sinceWords: Record<Since, string> = { hour: 'last hour', day: 'last day', week: 'last week' };
const BETWEEN = 'between';

interface RunFiltersProps {
  readonly search: RunsSearch;
  readonly runs: readonly RunSummary[];
  onLook(change: Partial<Record<keyof RunsSearch, string | undefined>>): void;
}

/** The filters of the list besides the words: start, tag, plan, project. */
export function RunFilters({ search, runs, onLook }: RunFiltersProps) {
  const { since, from, to, tag, plan, project, kind } = search;
  const [wantsDays, setWantsDays] = useState(false);
  const hasDays = wantsDays || from !== undefined || to !== undefined;
  const { tags, plans, projects } = facetsOf(runs);
  const when = (value: string) => {
    setWantsDays(value === BETWEEN);
    onLook({ since: value === BETWEEN ? undefined : value, from: undefined, to: undefined });
  };
  return (
    <fieldset className="filters">
      <legend className="sr-only">Filter runs</legend>
      <select
        className="field"
        aria-label="Start time"
        value={hasDays ? BETWEEN : (since ?? '')}
        onChange={event => when(event.target.value)}
      >
        <option value="">any time</option>
        {sinces.map(name => (
          <option key={name} value={name}>
            {sinceWords[name]}
          </option>
        ))}
        <option value={BETWEEN}>between two days…</option>
      </select>
      {hasDays && (
        <>
          <Day label="From day" value={from} onDay={day => onLook({ from: day })} />
          <Day label="To day" value={to} onDay={day => onLook({ to: day })} />
        </>
      )}
      {runs.some(run => run.kind === 'guided') && (
        <Facet
          label="Kind"
          any="plans and guided"
          options={kinds}
          value={kind}
          wordsOf={name => (name === 'guided' ? 'guided sessions' : 'plans')}
          onValue={value => onLook({ kind: value })}
        />
      )}
      <Facet label="Tag" any="any tag" options={tags} value={tag} onValue={value => onLook({ tag: value })} />
      <Facet
        label="Plan"
        any="any plan"
        options={plans}
        value={plan}
        wordsOf={lastPart}
        onValue={value => onLook({ plan: value })}
      />
      <Facet
        label="Project"
        any="any project"
        options={projects}
        value={project}
        wordsOf={lastPart}
        onValue={value => onLook({ project: value })}
      />
    </fieldset>
  );
}

interface FacetProps {
  readonly label: string;
  readonly any: string;
  readonly options: readonly string[];
  readonly value: string | undefined;
  wordsOf?(option: string): string;
  onValue(value: string | undefined): void;
}

function Facet({ label, any, options, value, wordsOf = same, onValue }: FacetProps) {
  // A value from the address stays visible even if no run has it.
  const shown = value === undefined || options.includes(value) ? options : [...options, value];
  if (shown.length === 0) return null;
  const words = shown.map(wordsOf);
  return (
    <select
      className="field facet"
      aria-label={label}
      title={value}
      value={value ?? ''}
      onChange={event => onValue(event.target.value || undefined)}
    >
      <option value="">{any}</option>
      {shown.map((option, index) => (
        <option key={option} value={option}>
          {words.indexOf(words[index] ?? '') === words.lastIndexOf(words[index] ?? '') ? words[index] : option}
        </option>
      ))}
    </select>
  );
}

function Day({
  label,
  value,
  onDay,
}: {
  readonly label: string;
  readonly value: string | undefined;
  onDay(day: string | undefined): void;
}) {
  return (
    <input
      type="date"
      className="field"
      aria-label={label}
      value={value ?? ''}
      onChange={event => onDay(event.target.value || undefined)}
    />
  );
}

const same = (option: string): string => option;
const lastPart = (path: string): string => path.split(/[\\/]/).at(-1) ?? path;
