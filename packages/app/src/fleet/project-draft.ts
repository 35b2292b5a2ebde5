import type { AgentRecord, Effect, Fact, FleetState } from '@signalbox/fleet';
import { asJson, type Json } from '@signalbox/model';
import type { ProjectDraft, Thing } from '@signalbox/runs';

/** Where a fact happens: the number of its record, and the state before and after it. */
export interface Happening {
  readonly fact: Fact;
  readonly effects: readonly Effect[];
  readonly n: number;
  readonly before: FleetState;
  readonly after: FleetState;
}

/** What a project's log keeps of a fact: the fact, and what was decided because of it. */
export function draftOf(happening: Happening): ProjectDraft {
  const { fact, effects, n } = happening;
  const decided = effects.flatMap((effect, index) => thingOf(effect, `${n}-${index}`) ?? []);
  return {
    at: fact.at,
    who: whoOf(fact),
    fact: asJson(fact),
    things: [...changedAgents(happening), ...decided],
  };
}

/** A line of a list; undefined for what is answered, published or done. `place` names what has no id of its own. */
function thingOf(effect: Effect, place: string): Thing | undefined {
  switch (effect.kind) {
    case 'commit_event': {
      const { envelope, marks, route } = effect;
      const { agentId, type } = envelope.event;
      const value = asJson({ envelope, marks, route });
      return { kind: 'event', id: envelope.sourceEventId, agent: agentId, status: type, value };
    }
    case 'save_quarantined': {
      const { id, agentId } = effect.message;
      return { kind: 'quarantined', id, agent: agentId, value: asJson(effect.message) };
    }
    case 'save_decision': {
      const { id, agentId, status } = effect.decision;
      return { kind: 'decision', id, agent: agentId, status, value: asJson(effect.decision) };
    }
    case 'save_trust':
      return { kind: 'trust', id: place, agent: effect.change.agentId, value: asJson(effect.change) };
    case 'save_brake': {
      const { id, released } = effect.brake;
      const status = released === undefined ? 'engaged' : 'released';
      return { kind: 'brake', id, status, value: asJson(effect.brake) };
    }
    case 'save_artifact': {
      const { id, agentId, status } = effect.artifact;
      return { kind: 'artifact', id, agent: agentId, status, value: asJson(effect.artifact) };
    }
    case 'save_issue': {
      const { id, status } = effect.issue;
      return { kind: 'issue', id, status, value: asJson(effect.issue) };
    }
    case 'audit': {
      const { entry } = effect;
      const agent = entry.agentId === undefined ? {} : { agent: entry.agentId };
      return { kind: 'audit', id: place, ...agent, status: entry.action, value: asJson(entry) };
    }
    default:
      return undefined;
  }
}

/** Agents whose standing or brief is another one. How many events they sent is in the events. */
function changedAgents({ before, after }: Happening): readonly Thing[] {
  const now = after.agents.agents;
  if (now === before.agents.agents) return [];
  return Object.values(now).flatMap((agent): Thing[] => {
    const old = before.agents.agents[agent.id];
    if (old === agent) return [];
    const { id, brief, status } = agent;
    return [
      ...(old === undefined || standing(old) !== standing(agent)
        ? [{ kind: 'agent' as const, id, agent: id, status, value: agentLine(agent) }]
        : []),
      ...(old?.brief === brief ? [] : [{ kind: 'brief' as const, id, agent: id, value: asJson(brief) }]),
    ];
  });
}

function agentLine({ id, name, pluginName, status, wanted, session, lives, brief }: AgentRecord): Json {
  const { role, workstream } = brief;
  return { id, name, pluginName, role, workstream, status, wanted, session, lives };
}

const standing = ({ status, wanted, session, lives }: AgentRecord) => `${status} ${wanted} ${session} ${lives}`;

function whoOf(fact: Fact): ProjectDraft['who'] {
  if (fact.kind === 'event_received') return 'agent';
  return 'by' in fact && typeof fact.by === 'string' && fact.by !== 'system' ? 'person' : 'system';
}
