import { type ArtifactId, unreachable } from '@signalbox/model';
import type { Fact } from '../facts.ts';
import type { InnerFact } from '../inner-facts.ts';
import type { Step } from '../step.ts';
import type { KnowledgeState, KnownArtifact } from './knowledge-state.ts';

export type KnowledgeFact =
  | Extract<Fact, { kind: 'artifact_reviewed' | 'artifact_changed' }>
  | Extract<InnerFact, { kind: 'artifact_reported' | 'knowledge_moved' }>;

/**
 * What the project's agents made.
 *
 * K1  An agent writes only in its own workstream; anything else is refused and said.
 * K2  A person's write names the version it saw. If there is a newer one, nothing is written.
 * K3  Trust follows from a person's review, never from what an agent says of its own work.
 */
export function stepKnowledge(
  state: KnowledgeState,
  fact: KnowledgeFact,
  _config: null,
  tick: number,
): Step<KnowledgeState> {
  switch (fact.kind) {
    case 'artifact_reported':
      return reported(state, fact, tick);
    case 'knowledge_moved':
      return { state: { ...state, version: state.version + 1 }, effects: [] };
    case 'artifact_changed': {
      const found = writable(state, fact.artifactId, fact.expectedVersion);
      if (!found.ok) return found.step;
      const {
        name = found.artifact.name,
        workstream = found.artifact.workstream,
        status = found.artifact.status,
      } = fact.changes;
      return stored(state, {
        ...found.artifact,
        name,
        workstream,
        status,
        version: found.artifact.version + 1,
        changedAt: fact.at,
        changedAtTick: tick,
      });
    }
    case 'artifact_reviewed':
      return reviewed(state, fact, tick);
    default:
      return unreachable(fact);
  }
}

function reported(
  state: KnowledgeState,
  { at, event, ownWorkstream, readable, sources }: Extract<KnowledgeFact, { kind: 'artifact_reported' }>,
  tick: number,
): Step<KnowledgeState> {
  const before = state.artifacts[event.artifactId];
  const foreign = [event.workstream, before?.workstream].find(
    workstream => workstream !== undefined && workstream !== ownWorkstream,
  );
  if (foreign !== undefined) {
    const message = `Agent ${event.agentId} of workstream ${ownWorkstream} may not write artifact ${event.artifactId} in workstream ${foreign}.`;
    return {
      state,
      effects: [
        {
          kind: 'audit',
          entry: {
            subject: 'knowledge',
            at,
            tick,
            by: event.agentId,
            action: 'write_refused',
            reason: message,
            agentId: event.agentId,
          },
        },
        {
          kind: 'own_event',
          at,
          event: {
            type: 'error',
            agentId: event.agentId,
            severity: 'medium',
            message,
            recoverable: true,
            errorCode: 'outside_workstream',
            category: 'internal',
          },
        },
      ],
    };
  }
  const { type: _type, artifactId, ...fields } = event;
  const artifact: KnownArtifact = {
    ...fields,
    id: artifactId,
    version: (before?.version ?? 0) + 1,
    changedAt: at,
    changedAtTick: tick,
  };
  const step = stored(state, artifact);
  return { state: step.state, effects: [...step.effects, { kind: 'artifact_stored', at, event, readable, sources }] };
}

function reviewed(
  state: KnowledgeState,
  fact: Extract<KnowledgeFact, { kind: 'artifact_reviewed' }>,
  tick: number,
): Step<KnowledgeState> {
  const found = writable(state, fact.artifactId, fact.expectedVersion);
  if (!found.ok) return found.step;
  const { artifact } = found;
  if (artifact.status === fact.status) return { state, effects: [] };
  const step = stored(state, {
    ...artifact,
    status: fact.status,
    version: artifact.version + 1,
    changedAt: fact.at,
    changedAtTick: tick,
  });
  return {
    state: step.state,
    effects: [
      ...step.effects,
      {
        kind: 'audit',
        entry: {
          subject: 'knowledge',
          at: fact.at,
          tick,
          by: fact.by,
          action: `artifact_${fact.status}`,
          reason: artifact.name,
          agentId: artifact.agentId,
        },
      },
      {
        kind: 'trust_outcome',
        at: fact.at,
        agentId: artifact.agentId,
        outcome: fact.status === 'approved' ? 'artifact_approved' : 'artifact_rejected',
        artifactId: artifact.id,
        reason: `A person ${fact.status} its artifact ${artifact.name}.`,
      },
    ],
  };
}

type Writable =
  | { readonly ok: true; readonly artifact: KnownArtifact }
  | { readonly ok: false; readonly step: Step<KnowledgeState> };

function writable(state: KnowledgeState, artifactId: ArtifactId, expectedVersion: number | undefined): Writable {
  const artifact = state.artifacts[artifactId];
  if (artifact === undefined) {
    const reason = `There is no artifact ${artifactId}.`;
    return { ok: false, step: { state, effects: [{ kind: 'request_refused', code: 'artifact_unknown', reason }] } };
  }
  if (expectedVersion === undefined || expectedVersion === artifact.version) return { ok: true, artifact };
  const { version } = artifact;
  return { ok: false, step: { state, effects: [{ kind: 'write_conflict', artifactId, expectedVersion, version }] } };
}

function stored(state: KnowledgeState, artifact: KnownArtifact): Step<KnowledgeState> {
  return {
    state: { version: state.version + 1, artifacts: { ...state.artifacts, [artifact.id]: artifact } },
    effects: [{ kind: 'save_artifact', artifact }],
  };
}
