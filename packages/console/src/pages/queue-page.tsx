import type { WireDecision } from '@signalbox/model';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { answer } from '../decisions/use-answer.ts';
import { words } from '../decisions/words.ts';
import { AgentQueue } from '../fleet/agent-queue.tsx';
import { useFleet } from '../fleet/fleet-live.tsx';
import { QueueDesk } from '../queue/queue-desk.tsx';
import { useClient } from '../server/client-context.ts';
import { useLive } from '../server/live.tsx';
import { Lamp } from '../shell/lamp.tsx';
import { Moment } from '../shell/moment.tsx';
import { Empty, ErrorBox } from '../shell/notices.tsx';
import { usePageActions } from '../shell/page-actions.ts';
import { useCommand } from '../shell/use-command.ts';
import { useCursor } from '../shell/use-cursor.ts';
import { headlineOf, questionOf } from '../story/question.ts';
import { many } from '../story/words.ts';

const route = getRouteApi('/queue');
const none: readonly WireDecision[] = [];

/** All decisions that wait for a person, oldest first. */
export function QueuePage() {
  const { decisions, decisionsError, runs } = useLive();
  const { decision: asked } = route.useSearch();
  const queue = decisions ?? none;
  const ofAgents = useFleet().decisions?.length ?? 0;
  const waiting = queue.length + ofAgents;
  const cursor = useCursor(queue.map(({ approvalId }) => approvalId));
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const { setId } = cursor;
  useEffect(() => {
    if (asked !== undefined) setId(asked);
  }, [asked, setId]);
  const isAskedThere = queue.some(({ approvalId }) => approvalId === asked);
  const [seen, setSeen] = useState<string>();
  useEffect(() => {
    if (isAskedThere) setSeen(asked);
  }, [isAskedThere, asked]);
  const isGone = asked !== undefined && decisions !== undefined && !isAskedThere && seen !== asked;
  // An answered decision leaves the list; the one that takes its place is next.
  const [place, setPlace] = useState(0);
  const shown = queue[cursor.at >= 0 ? cursor.at : Math.min(place, queue.length - 1)];
  useEffect(() => {
    if (cursor.at >= 0) setPlace(cursor.at);
  }, [cursor.at]);
  const toggle = (id: string) =>
    setSelected(before => {
      const after = new Set(before);
      if (!after.delete(id)) after.add(id);
      return after;
    });
  usePageActions(
    shown === undefined ? [] : [{ name: `Select ${headlineOf(shown)}`, key: 'x', act: () => toggle(shown.approvalId) }],
  );
  const chosen = queue.filter(({ approvalId }) => selected.has(approvalId));
  const runOf = (id: string) => runs?.find(run => run.id === id)?.record.name ?? id.slice(-8);

  if (decisionsError !== undefined && decisions === undefined) {
    return <ErrorBox error={decisionsError} title="Could not load decisions" />;
  }
  return (
    <div className="room queue">
      <title>{waiting === 0 ? 'Queue · Signalbox' : `(${waiting}) Queue · Signalbox`}</title>
      <div className="roomhead">
        <h1>Queue</h1>
        <p className="text-muted">
          {decisions === undefined
            ? 'Loading…'
            : waiting === 0
              ? 'Nothing needs you.'
              : `${many(waiting, 'decision')} ${waiting === 1 ? 'needs' : 'need'} you.`}
        </p>
        {queue.length > 0 && (
          <p className="keyline">
            <kbd>j</kbd> <kbd>k</kbd> move <kbd>a</kbd> approve <kbd>d</kbd> deny <kbd>m</kbd> modify <kbd>x</kbd>{' '}
            select
          </p>
        )}
      </div>
      {isGone && (
        <p role="status" className="run-note">
          {queue.length > 0 ? words.gone : words.goneNothing}
        </p>
      )}
      {chosen.length > 0 && <Bulk decisions={chosen} onDone={() => setSelected(new Set())} />}
      <AgentQueue />
      {queue.length === 0 ? (
        decisions !== undefined &&
        ofAgents === 0 && (
          <Empty title="When an agent needs your approval, or a plan asks a question, it appears here at once.">
            <p>Settings can turn on notifications while this page is in the background.</p>
          </Empty>
        )
      ) : (
        <div className="queue-panes">
          <ul className="queue-list" aria-label="Decisions">
            {queue.map(decision => {
              const { approvalId, runId, decision: kept } = decision;
              const headline = headlineOf(decision);
              return (
                <li key={approvalId} data-item={approvalId} data-current={decision === shown || undefined}>
                  <input
                    type="checkbox"
                    aria-label={`Select ${headline}`}
                    checked={selected.has(approvalId)}
                    onChange={() => toggle(approvalId)}
                  />
                  <button
                    type="button"
                    className="queue-item"
                    aria-current={decision === shown ? 'true' : undefined}
                    onClick={() => cursor.setId(approvalId)}
                  >
                    <span className="queue-item-head">
                      <Lamp signal="waiting" />
                      <span className="truncate font-medium">{headline}</span>
                      <Moment at={kept.askedAt} className="text-faint" />
                    </span>
                    <span className="queue-item-words">
                      {askerOf(decision)}
                      {decision.kind === 'guided' ? `guided: ${runOf(runId)}` : `${kept.node} in ${runOf(runId)}`}
                    </span>
                  </button>
                </li>
              );
            })}
          </ul>
          {shown !== undefined && <QueueDesk key={shown.approvalId} decision={shown} />}
        </div>
      )}
    </div>
  );
}

/** One answer to many. Questions that need more than a yes must be answered on their own. */
function Bulk({ decisions, onDone }: { readonly decisions: readonly WireDecision[]; onDone(): void }) {
  const client = useClient();
  const { isBusy, error, send } = useCommand();
  const approvable = decisions.filter(decision => ['approval', 'permission'].includes(questionOf(decision).wants.kind));
  const [isDenying, setIsDenying] = useState(false);
  const [why, setWhy] = useState('');
  const sayAll = async (kind: 'approve' | 'deny') => {
    let isAll = true;
    for (const decision of kind === 'approve' ? approvable : decisions) {
      isAll = (await send(() => answer(client, decision, { kind }, kind === 'deny' ? why : ''))) && isAll;
    }
    if (isAll) onDone();
  };
  return (
    <section aria-label="Selected" className="bulk">
      <strong>{decisions.length} selected</strong>
      {approvable.length > 0 && (
        <button type="button" className="button button-go" disabled={isBusy} onClick={() => sayAll('approve')}>
          Approve {approvable.length}
        </button>
      )}
      <button type="button" className="button button-danger" disabled={isBusy} onClick={() => setIsDenying(true)}>
        {words.denyAllAsk(decisions.length)}
      </button>
      <button type="button" className="button button-quiet" onClick={onDone}>
        Clear selection
      </button>
      {approvable.length < decisions.length && (
        <span className="text-muted">{decisions.length - approvable.length} need more than a yes</span>
      )}
      {isDenying && (
        <form
          className="deny basis-full"
          aria-label={words.denyTitle}
          onSubmit={event => {
            event.preventDefault();
            void sayAll('deny');
          }}
        >
          <p>{words.denyAllDoes}</p>
          <label>
            <span className="text-muted">{words.denyReason}</span>
            <input
              className="field"
              // biome-ignore lint/a11y/noAutofocus: it opens because the person pressed Deny, and is what comes next
              autoFocus
              value={why}
              maxLength={2000}
              onChange={event => setWhy(event.target.value)}
            />
          </label>
          <div className="answers">
            <button type="submit" className="button button-stop" disabled={isBusy}>
              {words.denyAll(decisions.length)}
            </button>
            <button type="button" className="button" onClick={() => setIsDenying(false)}>
              {words.cancel}
            </button>
          </div>
        </form>
      )}
      {error !== undefined && <ErrorBox error={error} title="An answer was not accepted" />}
    </section>
  );
}

/** Tells apart the decisions of one run. */
function askerOf(decision: WireDecision): string {
  const { agent } = questionOf(decision);
  return agent === undefined ? '' : `${agent.title} · `;
}
