import type { WireFleetAgent } from '@signalbox/model';
import { Link } from '@tanstack/react-router';
import { Lamp } from '../shell/lamp.tsx';
import { Moment } from '../shell/moment.tsx';
import { many } from '../story/words.ts';
import { healthOf, inOrder, standingOf } from './fleet-words.ts';

interface AgentListProps {
  readonly agents: readonly WireFleetAgent[];
  readonly shown: string | undefined;
}

/** The agents, those that need a person first. */
export function AgentList({ agents, shown }: AgentListProps) {
  return (
    <ul className="fleet-list" aria-label="Agents">
      {inOrder(agents).map(agent => (
        <li key={agent.id} data-current={agent.id === shown || undefined}>
          <AgentLine agent={agent} isShown={agent.id === shown} />
        </li>
      ))}
    </ul>
  );
}

function AgentLine({ agent, isShown }: { readonly agent: WireFleetAgent; readonly isShown: boolean }) {
  const { id, name, role, workstream, of, because, pendingDecisions, lastEventAt, handle } = agent;
  const { signal, word } = standingOf(agent);
  const health = healthOf(agent);
  return (
    <Link
      to="/fleet"
      search={{ agent: id }}
      className="fleet-agent"
      data-signal={signal}
      aria-current={isShown ? 'true' : undefined}
    >
      <span className="fleet-agent-head">
        <Lamp signal={signal} />
        <strong>{name}</strong>
        <span className={`word word-${signal}`}>{word}</span>
        {pendingDecisions > 0 && <span className="asks">{many(pendingDecisions, 'decision')}</span>}
        {lastEventAt !== null && <Moment at={lastEventAt} className="text-faint" />}
      </span>
      <span className="fleet-agent-words">
        {of === undefined ? `${role} · ${workstream}` : `node of plan ${of.plan}`}
      </span>
      {because !== undefined && <span className="fleet-agent-because">{because}</span>}
      {(handle.pendingBriefChanges !== undefined || health.length > 0) && (
        <span className="fleet-agent-tags">
          {handle.pendingBriefChanges !== undefined && <span className="tag">brief update pending</span>}
          {health.map(words => (
            <span key={words} className="tag">
              {words}
            </span>
          ))}
        </span>
      )}
    </Link>
  );
}
