import type { SessionId } from '@signalbox/model';
import { getRouteApi } from '@tanstack/react-router';
import { useRef } from 'react';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { sessionStanding } from '../sessions/session-standing.ts';
import { SessionView } from '../sessions/session-view.tsx';
import { useSessions } from '../sessions/use-sessions.ts';
import { WorkflowView } from '../sessions/workflow-view.tsx';
import { Lamp } from '../shell/lamp.tsx';
import { Moment } from '../shell/moment.tsx';
import { Empty, ErrorBox, Refused } from '../shell/notices.tsx';
import { Panel } from '../shell/panel.tsx';
import { many } from '../story/words.ts';

const route = getRouteApi('/workflows');

/** Guided workflows: the sessions in which agents walk them, and the catalogue. */
export function WorkflowsPage() {
  const client = useClient();
  const { session: asked, workflow, pinned, place } = route.useSearch();
  const navigate = route.useNavigate();
  const sessions = useSessions();
  const catalogue = useRead(['workflows'], () => client.workflows());
  // The newest session when the page was opened: later ones do not change the selection.
  const first = useRef<string>(undefined);
  const error = sessions.error ?? catalogue.error;
  if (error !== null && sessions.data === undefined)
    return <Refused page="Workflows" error={error} title="Could not load workflows" />;
  const listed = sessions.data?.sessions;
  const known = catalogue.data;
  first.current ??= listed?.[0]?.sessionId;
  const session = asked ?? (workflow === undefined ? first.current : undefined);
  return (
    <div className="room queue">
      <title>Workflows · Signalbox</title>
      <div className="roomhead">
        <h1>Workflows</h1>
        <p className="text-muted">
          {listed === undefined || known === undefined
            ? 'Loading…'
            : `${many(listed.length, 'session')}, ${many(known.workflows.length, 'workflow')} in the catalogue`}
        </p>
      </div>
      <div className="queue-panes">
        <div className="queue-list">
          <Panel title="Sessions" className="panel-flat">
            {listed?.length === 0 && (
              <Empty title="No sessions yet">
                <p>
                  Connect an agent with <code>signalbox mcp</code>; its sessions appear here.
                </p>
              </Empty>
            )}
            <ul className="artifact-list border-0">
              {listed?.map(one => {
                const { signal, word } = sessionStanding(one);
                const [first] = one.runs;
                return (
                  <li key={one.sessionId} data-current={one.sessionId === session || undefined}>
                    <button
                      type="button"
                      className="queue-item"
                      onClick={() => navigate({ search: { session: one.sessionId }, replace: true })}
                    >
                      <span className="queue-item-head">
                        <Lamp signal={signal} />
                        <span className="truncate font-medium">{first?.name ?? first?.workflowId ?? 'no run yet'}</span>
                        <Moment at={one.lastActiveAt} className="text-faint" />
                      </span>
                      <span className="queue-item-words">
                        {word}
                        {first?.pendingStep !== undefined &&
                          first.pendingStep !== null &&
                          `: ${first.pendingStep.title}`}
                      </span>
                    </button>
                  </li>
                );
              })}
            </ul>
          </Panel>
          <Panel title="Catalogue" className="panel-flat">
            {catalogue.error !== null && <ErrorBox error={catalogue.error} title="Could not load the catalogue" />}
            <ul className="artifact-list border-0">
              {known?.workflows.map(({ workflowId, name, sourceKind, workflowHash }) => (
                <li key={`${sourceKind} ${workflowId}`} data-current={workflowId === workflow || undefined}>
                  <button
                    type="button"
                    className="queue-item"
                    onClick={() => navigate({ search: { workflow: workflowId }, replace: true })}
                  >
                    <span className="queue-item-head">
                      <span className="truncate font-medium">{name}</span>
                      <span className="kind">{sourceKind}</span>
                    </span>
                    <span className="queue-item-words">
                      {workflowHash === undefined ? 'cannot be started' : workflowId}
                    </span>
                  </button>
                </li>
              ))}
            </ul>
            {known?.problems.map(problem => (
              <div key={`${problem.sourceRef} ${problem.code}`} className="errorbox m-3">
                <pre className="errorbox-words">{problem.message}</pre>
                <code>{problem.code}</code>
              </div>
            ))}
          </Panel>
        </div>
        {session !== undefined ? (
          <SessionView
            key={session}
            session={session as SessionId}
            place={place}
            onPlace={at => void navigate({ search: { session, place: at }, replace: true })}
          />
        ) : workflow !== undefined ? (
          <WorkflowView
            key={workflow}
            workflow={workflow}
            pinned={pinned}
            onStarted={started => void navigate({ search: { session: started } })}
            onCopied={copied => {
              void catalogue.refetch();
              void navigate({ search: { workflow: copied } });
            }}
          />
        ) : (
          <Empty title="Choose a session or a workflow" />
        )}
      </div>
    </div>
  );
}
