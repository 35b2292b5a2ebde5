import { type RunSummary, runPhase } from '@signalbox/model';
import { Link } from '@tanstack/react-router';
import { CopyButton } from '../shell/copy-button.tsx';
import { Lamp } from '../shell/lamp.tsx';
import { Moment } from '../shell/moment.tsx';
import { useNow } from '../shell/use-now.ts';
import { lasted, runStanding, span } from '../story/words.ts';
import { originWords } from './lineage-panel.tsx';
import { RunLevers } from './run-levers.tsx';
import { runNotes } from './run-notes.ts';
import type { Spending } from './spending.ts';
import { SpendingWords } from './spending-words.tsx';

interface RunHeadProps {
  readonly summary: RunSummary;
  readonly spending: Spending | undefined;
  /** The frame that is looked back at. */
  readonly frame: number | undefined;
}

/** What the run is, what it is doing, and the levers that move it. */
export function RunHead({ summary, spending, frame }: RunHeadProps) {
  const { record, phase, stopReason } = summary;
  const hasEnded = record.endedAt !== undefined;
  const now = useNow(!hasEnded);
  const { signal, word } = runStanding(summary);
  const begun = Date.parse(record.startedAt ?? record.createdAt);
  const end = record.endedAt === undefined ? now : Date.parse(record.endedAt);
  return (
    <header className="runhead">
      <div className="runhead-title">
        <Lamp signal={signal} size={20} />
        <h1>{record.name}</h1>
        <span role="status" className={`word word-${signal}`}>
          {word}
        </span>
        {record.tags.map(tag => (
          <Link key={tag} to="/runs" search={{ tag }} className="tag">
            {tag}
          </Link>
        ))}
      </div>
      <RunLevers summary={summary} frame={frame} />
      <dl className="facts">
        <Fact name={hasEnded ? 'took' : 'for'}>{hasEnded ? lasted(end - begun) : span(end - begun)}</Fact>
        {spending !== undefined && spending.calls > 0 && (
          <Fact name="spent">
            <SpendingWords spending={spending} />
          </Fact>
        )}
        <Fact name="began">
          <Moment at={record.startedAt ?? record.createdAt} />
        </Fact>
        {record.endedAt !== undefined && (
          <Fact name="ended">
            <Moment at={record.endedAt} />
          </Fact>
        )}
        <Fact name="phase">
          <ol className="phases" aria-label="Phase">
            {runPhase.options
              .filter(name => name !== 'DOCS_SYNC' || phase === name)
              .map(name => (
                <li key={name} aria-current={name === phase ? 'step' : undefined}>
                  {name}
                </li>
              ))}
          </ol>
        </Fact>
        {record.origin !== undefined && (
          <Fact name={originWords[record.origin.kind]}>
            <Link
              to="/runs/$run"
              params={{ run: record.origin.run }}
              search={record.origin.frame === undefined ? {} : { frame: record.origin.frame }}
            >
              {record.origin.run.slice(-8)}
              {record.origin.frame !== undefined && `, frame ${record.origin.frame}`}
            </Link>
          </Fact>
        )}
        {record.entry !== undefined && (
          <Fact name="plan">
            <span title={record.entry}>{record.entry.split('/').slice(-2).join('/')}</span>
          </Fact>
        )}
        <Fact name="run">
          {record.id.slice(-12)} <CopyButton text={record.id} label="Copy the id of the run" />
        </Fact>
        {record.kept !== undefined && <Fact name="kept by">{record.kept.by}</Fact>}
        {stopReason !== undefined && <Fact name="stopped because">{stopReason}</Fact>}
      </dl>
      {runNotes(summary).map(({ kind, words }) => (
        <p key={kind} className="run-note" data-kind={kind}>
          {words}
        </p>
      ))}
    </header>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
