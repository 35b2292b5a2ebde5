import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { AgentDetail } from '../fleet/agent-detail.tsx';
import { AgentList } from '../fleet/agent-list.tsx';
import { ArtifactPanel } from '../fleet/artifact-panel.tsx';
import { CoherencePanel } from '../fleet/coherence-panel.tsx';
import { useAgents, useFleet, useFleetRead } from '../fleet/fleet-live.tsx';
import { engagedOf, fleetSummary, inOrder } from '../fleet/fleet-words.ts';
import { SpawnForm } from '../fleet/spawn-form.tsx';
import { useClient } from '../server/client-context.ts';
import { Empty, Refused } from '../shell/notices.tsx';
import { useKeys } from '../shell/use-keys.ts';

const route = getRouteApi('/fleet');

/** The agents of the project: how each is, what it waits for, and what it made. */
export function FleetPage() {
  const client = useClient();
  const { isThere } = useFleet();
  const { agents, error, again, nameOf } = useAgents();
  const { data: brakes } = useFleetRead(['brakes'], () => client.brakes());
  const { agent: asked } = route.useSearch();
  const navigate = route.useNavigate();
  const listed = inOrder(agents ?? []);
  // The list is in order of urgency: the agent that is shown stays when another one moves to the top.
  const [first, setFirst] = useState<string>();
  const top = listed[0]?.id;
  useEffect(() => setFirst(before => before ?? top), [top]);
  const at = Math.max(
    0,
    listed.findIndex(({ id }) => id === (asked ?? first)),
  );
  const shown = listed[at];
  const move = (by: number) => {
    const next = listed[Math.min(Math.max(at + by, 0), listed.length - 1)];
    if (next !== undefined) void navigate({ search: { agent: next.id }, replace: true });
  };
  useKeys({ j: () => move(1), k: () => move(-1) });
  if (error !== null && agents === undefined)
    return <Refused page="Fleet" error={error} title="Could not load agents" />;
  const engaged = brakes === undefined ? [] : engagedOf(brakes);
  const changed = () => void again();
  return (
    <div className="room">
      <title>Fleet · Signalbox</title>
      <div className="roomhead">
        <h1>Fleet</h1>
        <p className="text-muted" role="status">
          {isThere === false ? 'This server has no fleet.' : agents === undefined ? 'Loading…' : fleetSummary(agents)}
        </p>
      </div>
      {engaged.length > 0 && (
        <p role="status" className="streak">
          <strong>{engaged.length === 1 ? 'A brake is engaged' : `${engaged.length} brakes are engaged`}:</strong>{' '}
          {engaged.map(({ action }) => action.reason).join('; ')}. <Link to="/controls">Release it in Controls</Link>
        </p>
      )}
      {isThere === true && <SpawnForm onChanged={changed} />}
      {agents?.length === 0 && (
        <Empty title="Agents of this project appear here.">
          <p>
            Sample agents, without keys or network: <code>signalbox serve --scenario david</code>
          </p>
        </Empty>
      )}
      {shown !== undefined && (
        <>
          <div className="fleet-panes">
            <AgentList agents={listed} shown={shown.id} />
            <AgentDetail key={shown.id} id={shown.id} onChanged={changed} />
          </div>
          <div className="fleet-columns">
            <CoherencePanel onChanged={changed} />
            <ArtifactPanel nameOf={nameOf} onChanged={changed} />
          </div>
        </>
      )}
    </div>
  );
}
