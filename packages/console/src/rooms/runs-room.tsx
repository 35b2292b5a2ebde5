import type { Client } from '@signalbox/client';
import type { RunSummary } from '@signalbox/model';
import { useState } from 'react';
import { Lamp } from '../frame/lamp.tsx';
import { Link } from '../frame/link.tsx';
import { Empty, LinkBanner } from '../frame/notices.tsx';
import { useNow } from '../frame/use-now.ts';
import { isIn, type RunsView, views } from '../story/runs-list.ts';
import { useRuns } from '../story/use-runs.ts';
import { runStanding, span } from '../story/words.ts';
import { useRefusal } from './use-refusal.ts';

const viewWords: Record<RunsView, string> = {
  all: 'All',
  active: 'Working',
  waiting: 'Waiting',
  done: 'Completed',
  failed: 'Failed',
};

/** All runs, newest first, as they are now. */
export function RunsRoom({ client, onRefused }: { readonly client: Client; onRefused(): void }) {
  const { link, runs, next, readOlder } = useRuns(client);
  const [view, setView] = useState<RunsView>('all');
  const now = useNow();
  useRefusal(link, onRefused);
  const shown = runs?.filter(run => isIn(view, run));
  return (
    <div className="room">
      <title>Runs · Signalbox</title>
      <LinkBanner link={link} />
      <div className="roomhead">
        <h1>Runs</h1>
        <fieldset className="views">
          <legend className="sr-only">Show</legend>
          {views.map(name => (
            <button
              key={name}
              type="button"
              className="view"
              aria-pressed={view === name}
              onClick={() => setView(name)}
            >
              {viewWords[name]} <span className="count">{runs?.filter(run => isIn(name, run)).length ?? '–'}</span>
            </button>
          ))}
        </fieldset>
      </div>
      {shown === undefined ? (
        <Empty title="Looking for runs…" />
      ) : shown.length === 0 ? (
        <Empty title={view === 'all' ? 'No runs yet' : 'No run is like that now'}>
          {view === 'all' && (
            <p>
              Start one: <code>signalbox run PLAN.tsx</code>
            </p>
          )}
        </Empty>
      ) : (
        <ul className="runs">
          <li className="runhints" aria-hidden="true">
            <span />
            <span>run</span>
            <span>is</span>
            <span>phase</span>
            <span>frames</span>
            <span>took</span>
            <span>began</span>
          </li>
          {shown.map(run => (
            <RunLine key={run.id} run={run} now={now} />
          ))}
        </ul>
      )}
      {next !== undefined && (
        <button type="button" className="button mx-auto mt-3" onClick={readOlder}>
          Older runs
        </button>
      )}
    </div>
  );
}

function RunLine({ run, now }: { readonly run: RunSummary; readonly now: number }) {
  const { record, openDecisions, phase } = run;
  const { signal, word } = runStanding(run);
  const begun = Date.parse(record.startedAt ?? record.createdAt);
  const end = record.endedAt === undefined ? now : Date.parse(record.endedAt);
  return (
    <li>
      <Link href={`/runs/${record.id}`} className="runline" data-signal={signal}>
        <Lamp signal={signal} size={16} />
        <span className="runline-name">
          <strong>{record.name}</strong>
          <span className="mono text-muted">{record.id.slice(-8)}</span>
          {record.tags.map(tag => (
            <span key={tag} className="tag">
              {tag}
            </span>
          ))}
        </span>
        <span className="runline-word">
          <span className={`word word-${signal}`}>{word}</span>
          {openDecisions > 0 && (
            <span className="asks">
              {openDecisions} {openDecisions === 1 ? 'decision' : 'decisions'}
            </span>
          )}
          {record.error !== undefined && <span className="runline-error">{record.error.message}</span>}
          {record.status === 'stopped' && record.stopReason !== undefined && (
            <span className="runline-error">{record.stopReason}</span>
          )}
        </span>
        <span className="runline-phase mono">{phase}</span>
        <span className="runline-frames mono text-muted">{record.frames}</span>
        <span className="runline-time mono">{span(end - begun)}</span>
        <span className="runline-ago mono text-muted">{span(now - begun)} ago</span>
      </Link>
    </li>
  );
}
