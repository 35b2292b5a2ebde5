import { type CoherenceEvent, type Timestamp, unreachable } from '@signalbox/model';
import type { Fact } from '../facts.ts';
import type { InnerFact } from '../inner-facts.ts';
import { kept, type Step } from '../step.ts';
import type { CoherenceConfig } from './coherence-config.ts';
import { coherenceScore } from './coherence-score.ts';
import type { CoherenceIssue, CoherenceState } from './coherence-state.ts';
import { compared, isComparable, reviewed, reviewsAsked, scanned } from './similarity.ts';
import { artifactFindings, decisionConflicts, placesOf, recommendationOf } from './structure-checks.ts';

export type CoherenceFact =
  | Extract<Fact, { kind: 'similarities_computed' | 'reviews_returned' | 'issue_settled' | 'issue_reported' }>
  | Extract<InnerFact, { kind: 'event_accepted' | 'artifact_stored' | 'option_raised' | 'decision_closed' | 'ticked' }>;

const SCORES_KEPT = 50;

/**
 * What does not fit together: found by structure (layer 0, on every event), by similarity (layer 1), by review (layer 2), by agents and by
 * people. The services of layers 1 and 2 are asked by effects and answer with facts.
 */
export function stepCoherence(
  state: CoherenceState,
  fact: CoherenceFact,
  config: CoherenceConfig,
  tick: number,
): Step<CoherenceState> {
  switch (fact.kind) {
    case 'artifact_stored':
      return stored(state, fact, config, tick);
    case 'option_raised': {
      const { event, workstream, at } = fact;
      const recommended = recommendationOf(event);
      const conflicts = news(state, decisionConflicts(state, event, workstream), at);
      if (recommended === undefined) return { state, effects: conflicts };
      const entry = { agentId: event.agentId, workstream, artifactIds: event.affectedArtifactIds, recommended };
      return { state: { ...state, options: { ...state.options, [event.decisionId]: entry } }, effects: conflicts };
    }
    case 'decision_closed': {
      if (state.options[fact.decisionId] === undefined) return kept(state);
      const { [fact.decisionId]: _closed, ...options } = state.options;
      return kept({ ...state, options });
    }
    case 'event_accepted': {
      const { event } = fact.envelope;
      if (event.type !== 'coherence') return kept(state);
      const { type: _type, agentId, issueId, ...fields } = event;
      const foundBy = fact.marks.isOwn ? 'system' : agentId;
      return saved(
        state,
        { ...fields, id: issueId, status: 'open', foundBy, foundAt: fact.at, foundAtTick: tick },
        tick,
      );
    }
    case 'ticked': {
      const scan = scanned(state, config, fact.at, tick);
      const reviews = reviewsAsked(scan.state, config, fact.at);
      return { state: reviews.state, effects: [...scan.effects, ...reviews.effects] };
    }
    case 'similarities_computed':
      return compared(state, fact, config);
    case 'reviews_returned':
      return reviewed(state, fact, config);
    case 'issue_settled':
      return settled(state, fact, tick);
    case 'issue_reported': {
      const { kind: _kind, at, by, missedBy, issueId, ...fields } = fact;
      if (state.issues[issueId] !== undefined) return kept(state);
      const step = saved(
        state,
        { ...fields, id: issueId, status: 'open', foundBy: by, foundAt: at, foundAtTick: tick },
        tick,
      );
      const missed = missedBy.map(
        agentId =>
          ({
            kind: 'trust_outcome',
            at,
            agentId,
            outcome: 'coherence_issue_missed',
            reason: `A person found: ${fact.title}`,
          }) as const,
      );
      return { state: step.state, effects: [...step.effects, ...missed] };
    }
    default:
      return unreachable(fact);
  }
}

function stored(
  state: CoherenceState,
  { at, event, readable, sources }: Extract<CoherenceFact, { kind: 'artifact_stored' }>,
  config: CoherenceConfig,
  tick: number,
): Step<CoherenceState> {
  const effects = news(state, artifactFindings(state, event, readable, sources, config.fileConflictTicks, tick), at);
  const { agentId, artifactId, workstream, contentHash } = event;
  const files = { ...state.files };
  for (const place of placesOf(event)) files[place] = { agentId, artifactId, tick };
  const contents =
    contentHash === undefined || state.contents[contentHash] !== undefined
      ? state.contents
      : { ...state.contents, [contentHash]: { artifactId, workstream } };
  const isText = isComparable(event);
  const changed = isText ? [...new Set([...state.scan.changed, artifactId])] : state.scan.changed;
  return {
    state: {
      ...state,
      files,
      contents,
      comparable: isText ? { ...state.comparable, [artifactId]: { workstream, agentId } } : state.comparable,
      // What layer 0 found may have more to it: the next scan does not wait.
      scan: { ...state.scan, changed, isWanted: state.scan.isWanted || effects.length > 0 },
    },
    effects,
  };
}

/** Findings that are not known yet, or were settled and are there again; what a person dismissed stays dismissed. */
function news(state: CoherenceState, findings: readonly CoherenceEvent[], at: Timestamp): readonly InnerFact[] {
  return findings
    .filter(({ issueId }) => {
      const status = state.issues[issueId]?.status;
      return status === undefined || status === 'resolved';
    })
    .map(event => ({ kind: 'own_event', at, event }));
}

function settled(
  state: CoherenceState,
  fact: Extract<CoherenceFact, { kind: 'issue_settled' }>,
  tick: number,
): Step<CoherenceState> {
  const issue = state.issues[fact.issueId];
  if (issue === undefined) {
    const reason = `There is no coherence issue ${fact.issueId}.`;
    return { state, effects: [{ kind: 'request_refused', code: 'issue_unknown', reason }] };
  }
  if (issue.status === fact.as) return kept(state);
  const step = saved(state, { ...issue, status: fact.as }, tick);
  const isAgents = issue.foundBy !== 'system' && fact.as === 'confirmed';
  if (!isAgents) return step;
  return {
    state: step.state,
    effects: [...step.effects, { kind: 'finder_confirmed', at: fact.at, foundBy: issue.foundBy, title: issue.title }],
  };
}

function saved(state: CoherenceState, issue: CoherenceIssue, tick: number): Step<CoherenceState> {
  const issues = { ...state.issues, [issue.id]: issue };
  const score = coherenceScore({ issues });
  const scores = [...state.scores.filter(entry => entry.tick !== tick), { tick, score }].slice(-SCORES_KEPT);
  return { state: { ...state, issues, scores }, effects: [{ kind: 'save_issue', issue }] };
}
