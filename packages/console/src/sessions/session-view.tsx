import type { SessionGap, SessionId } from '@signalbox/model';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { CopyButton } from '../frame/copy-button.tsx';
import { Lamp } from '../frame/lamp.tsx';
import { Empty, ErrorBox } from '../frame/notices.tsx';
import { useCommand } from '../frame/use-command.ts';
import { useClient } from '../server/client-context.ts';

const Prose = lazy(() => import('../frame/prose.tsx').then(({ Prose: component }) => ({ default: component })));
const AGAIN_MS = 5_000;

/** One guided session: its runs step by step, what was noted, and what it lacks. */
export function SessionView({ session }: { readonly session: SessionId }) {
  const client = useClient();
  const { data, refetch } = useQuery({
    queryKey: ['session', session],
    queryFn: () => client.session(session),
    refetchInterval: AGAIN_MS,
  });
  if (data === undefined) return <Empty title="Reading…" />;
  if (!data.ok) return <ErrorBox error={data.error} title="This session cannot be shown" />;
  const { runs, isSalvaged, health } = data.value;
  return (
    <article className="desk" aria-label={`Session ${session}`}>
      <header>
        <p className="eyebrow">
          session {session.slice(-12)} <CopyButton text={session} label="Copy the id of the session" />
        </p>
        <h2>{runs[0]?.name ?? runs[0]?.workflow?.workflowId ?? 'A session without a run'}</h2>
      </header>
      {isSalvaged && (
        <p className="risk">
          Its log is damaged ({health}). Only what comes before the damage is shown, and nothing goes on from it.
        </p>
      )}
      {runs.map(({ runId, status, source, nodes, gaps, omittedNodes }) => (
        <section key={runId} className="flex flex-col gap-3">
          {source.kind !== 'as_pinned' && (
            <p className="streak">
              {source.kind === 'gone'
                ? 'The source of its workflow is gone. The run goes on with what it is pinned to.'
                : 'The source of its workflow has changed since. The run goes on with what it is pinned to.'}
            </p>
          )}
          {gaps.map(gap => (
            <GapCard key={gap.gapId} session={session} gap={gap} onAnswered={() => void refetch()} />
          ))}
          <h3 className="eyebrow">
            {status.replaceAll('_', ' ')}
            {omittedNodes > 0 && `, ${omittedNodes} more places are not shown`}
          </h3>
          <ol className="steps">
            {nodes.map(node => (
              <li key={node.nodeId} data-off={!node.isOnPreferredPath || undefined}>
                <i aria-hidden="true" />
                <span>{node.step?.title ?? node.nodeKind}</span>
                {node.isLeaf && <span className="turn">here</span>}
                {node.notes !== undefined && (
                  <Suspense fallback={<pre className="code">{node.notes}</pre>}>
                    <Prose text={node.notes} />
                  </Suspense>
                )}
              </li>
            ))}
          </ol>
        </section>
      ))}
    </article>
  );
}

interface GapCardProps {
  readonly session: SessionId;
  readonly gap: SessionGap;
  onAnswered(): void;
}

/** Something that the session lacks. What only the person can give is answered here. */
function GapCard({ session, gap, onAnswered }: GapCardProps) {
  const client = useClient();
  const { isBusy, error, send } = useCommand();
  const [value, setValue] = useState('');
  const { gapId, reason, summary, resolvedBy, shown } = gap;
  const isOpen = resolvedBy === undefined;
  const isPersons = isOpen && reason.category === 'user_only_dependency';
  const wantsLeave = isPersons && reason.detail === 'needs_user_approval';
  const wantsWords = isPersons && !wantsLeave;
  const say = async (answer: Parameters<typeof client.answerGap>[2]) => {
    if (await send(() => client.answerGap(session, gapId, answer))) onAnswered();
  };
  return (
    <section className={isOpen ? 'decision' : 'gap-closed'} aria-label={summary}>
      <p className="flex items-center gap-2">
        <Lamp signal={isOpen ? 'waiting' : 'done'} />
        {summary} <span className="kind">{reason.detail.replaceAll('_', ' ')}</span>
      </p>
      {isPersons && (
        <div className="answers">
          {wantsLeave && (
            <>
              <button
                type="button"
                className="button button-go"
                disabled={isBusy}
                onClick={() => say({ kind: 'approved', shown })}
              >
                Approve
              </button>
              <button
                type="button"
                className="button button-danger"
                disabled={isBusy}
                onClick={() => say({ kind: 'denied', shown })}
              >
                Deny
              </button>
            </>
          )}
          {wantsWords && (
            <>
              <input
                className="why"
                aria-label="Your answer"
                value={value}
                onChange={event => setValue(event.target.value)}
              />
              <button
                type="button"
                className="button button-go"
                disabled={isBusy || value === ''}
                onClick={() => say({ kind: 'answered', value, shown })}
              >
                Answer
              </button>
            </>
          )}
        </div>
      )}
      {error !== undefined && <ErrorBox error={error} title="The answer was not taken" />}
    </section>
  );
}
