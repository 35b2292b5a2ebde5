import type { SessionDetail, SessionId, SessionNode } from '@signalbox/model';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { useClient } from '../server/client-context.ts';
import { useLive } from '../server/live.tsx';
import { CopyButton } from '../shell/copy-button.tsx';
import { lazyPart } from '../shell/lazy-part.ts';
import { Moment } from '../shell/moment.tsx';
import { Empty, ErrorBox } from '../shell/notices.tsx';
import { GapCard } from './gap-card.tsx';
import { placeOfInterest, placeStanding, type SessionRunDetail, titleOf } from './session-places.ts';

const Prose = lazyPart(() => import('../shell/prose.tsx').then(({ Prose: component }) => ({ default: component })));
const SessionGraph = lazyPart(() =>
  import('./session-graph.tsx').then(({ SessionGraph: component }) => ({ default: component })),
);
const AGAIN_MS = 2_000;

interface SessionViewProps {
  readonly session: SessionId;
  /** The selected place; defaults to where the agent is. */
  readonly place: string | undefined;
  onPlace(place: string): void;
}

/** One guided session: the growing graph of its runs, its notes, gaps and damage. */
export function SessionView({ session, place, onPlace }: SessionViewProps) {
  const client = useClient();
  const { runs: live = [] } = useLive();
  // The server reports changes of the session's runs. Other processes may write session files, so they are polled too.
  const moved = live.flatMap(({ guided, record }) => (guided?.sessionId === session ? [record.updatedAt] : [])).join();
  const { data, refetch } = useQuery({
    queryKey: ['session', session, moved],
    queryFn: () => client.session(session),
    placeholderData: before => before,
    refetchInterval: AGAIN_MS,
  });
  if (data === undefined) return <Empty title="Loading…" />;
  if (!data.ok) return <ErrorBox error={data.error} title="Could not load this session" />;
  const { runs, omittedRuns } = data.value;
  return (
    <article className="desk" aria-label={`Session ${session}`}>
      <SessionHead detail={data.value} />
      {runs.map(run => (
        <SessionRun
          key={run.runId}
          session={session}
          run={run}
          place={place}
          onPlace={onPlace}
          onAnswered={() => void refetch()}
        />
      ))}
      {omittedRuns > 0 && <p className="text-muted">{omittedRuns} more runs are not shown.</p>}
    </article>
  );
}

function SessionHead({ detail }: { readonly detail: SessionDetail }) {
  const { sessionId, runs, isSalvaged, health, defect, events, isKept, lastActiveAt, workspace } = detail;
  return (
    <>
      <header>
        <p className="eyebrow">
          session {sessionId.slice(-12)} <CopyButton text={sessionId} label="Copy session id" />
        </p>
        <h2>{runs[0]?.name ?? runs[0]?.workflow?.workflowId ?? 'Session without a run'}</h2>
        <dl className="facts">
          <Fact name="log" words={`${health.replace('_', ' ')}, ${events} events${isKept ? ', kept' : ''}`} />
          <div>
            <dt>last written</dt>
            <dd>
              <Moment at={lastActiveAt} />
            </dd>
          </div>
          {Object.entries(workspace).map(([name, value]) => (
            <Fact key={name} name={name.replaceAll('_', ' ')} words={value} />
          ))}
        </dl>
      </header>
      {isSalvaged && (
        <section role="alert" className="errorbox">
          <h3>Its log is damaged ({health.replace('_', ' ')})</h3>
          <p>Only the part before the damage is shown, and it cannot be continued.</p>
          {defect !== undefined && <pre className="errorbox-words">{defect.reason}</pre>}
          <p className="text-muted">
            Check it with <code>signalbox verify {sessionId}</code>.
          </p>
        </section>
      )}
    </>
  );
}

function Fact({ name, words }: { readonly name: string; readonly words: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd className="truncate" title={words}>
        {words}
      </dd>
    </div>
  );
}

interface SessionRunProps extends SessionViewProps {
  readonly run: SessionRunDetail;
  onAnswered(): void;
}

function SessionRun({ session, run, place, onPlace, onAnswered }: SessionRunProps) {
  const [isListed, setIsListed] = useState(false);
  const { nodes, gaps, source, status, omittedNodes, preferences } = run;
  const current = nodes.find(({ nodeId }) => nodeId === place) ?? placeOfInterest(run);
  const open = gaps.filter(({ resolvedBy }) => resolvedBy === undefined);
  const closed = gaps.filter(({ resolvedBy }) => resolvedBy !== undefined);
  return (
    <section className="flex flex-col gap-3" aria-label={`Run ${run.runId}`}>
      {source.kind !== 'as_pinned' && (
        <p className="streak">
          {source.kind === 'gone'
            ? 'The source of its workflow is gone. The run continues with its pinned version. '
            : 'The source of its workflow has changed since. The run continues with its pinned version. '}
          <Pinned run={run}>Compare</Pinned>
        </p>
      )}
      {open.map(gap => (
        <GapCard key={gap.gapId} session={session} gap={gap} onAnswered={onAnswered} />
      ))}
      <div className="flex flex-wrap items-baseline gap-x-4">
        <h3 className="eyebrow">{status.replaceAll('_', ' ')}</h3>
        <span className="text-muted">
          {Object.values(preferences)
            .map(value => value.replaceAll('_', ' '))
            .join(', ')}
        </span>
        {source.kind === 'as_pinned' && <Pinned run={run}>pinned version</Pinned>}
        <label className="check ml-auto">
          <input type="checkbox" checked={isListed} onChange={event => setIsListed(event.target.checked)} />
          as a list
        </label>
      </div>
      {omittedNodes > 0 && <p className="text-muted">{omittedNodes} earlier places are not shown.</p>}
      {nodes.length === 0 ? (
        <Empty title="No places yet" />
      ) : isListed ? (
        <ol className="steps">
          {nodes.map(node => (
            <li key={node.nodeId} data-off={!node.isOnPreferredPath || undefined}>
              <i aria-hidden="true" />
              <span>{titleOf(node)}</span>
              <span className="text-muted">{placeStanding(node, run).word}</span>
              <Told node={node} />
            </li>
          ))}
        </ol>
      ) : (
        <div className="session-panes">
          <Suspense fallback={<Empty title="Drawing…" />}>
            <SessionGraph run={run} current={current?.nodeId} onCurrent={onPlace} />
          </Suspense>
          {current !== undefined && (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be reachable with the keyboard
            <section aria-label="This place" className="session-place-told" tabIndex={0}>
              <h3 className="font-semibold">{titleOf(current)}</h3>
              <p className="text-muted">
                {placeStanding(current, run).word}
                {current.step !== null && (
                  <>
                    {' · '}
                    <code>{current.step.key}</code>
                  </>
                )}
              </p>
              <Told node={current} />
              {current.notes === undefined && current.blockers === undefined && (
                <p className="text-faint">No notes on the way here.</p>
              )}
            </section>
          )}
        </div>
      )}
      {closed.length > 0 && (
        <details className="more">
          <summary>{closed.length} answered</summary>
          {closed.map(gap => (
            <GapCard key={gap.gapId} session={session} gap={gap} onAnswered={onAnswered} />
          ))}
        </details>
      )}
    </section>
  );
}

function Pinned({ run: { workflow }, children }: { readonly run: SessionRunDetail; readonly children: string }) {
  if (workflow === undefined) return null;
  return (
    <Link to="/workflows" search={{ workflow: workflow.workflowId, pinned: workflow.workflowHash }}>
      {children}
    </Link>
  );
}

/** The notes on the way to a place, and why the last attempt did not advance from it. */
function Told({ node: { notes, blockers } }: { readonly node: SessionNode }) {
  return (
    <>
      {blockers?.map(({ code, message, suggestedFix }) => (
        <div key={`${code} ${message}`} className="errorbox basis-full">
          <pre className="errorbox-words">{message}</pre>
          {suggestedFix !== undefined && <p className="text-muted">{suggestedFix}</p>}
          <code>{code}</code>
        </div>
      ))}
      {notes !== undefined && (
        <Suspense fallback={<pre className="code">{notes}</pre>}>
          <Prose text={notes} />
        </Suspense>
      )}
    </>
  );
}
