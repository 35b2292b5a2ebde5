import {
  type AgentEvent,
  type ArtifactEvent,
  type ArtifactId,
  type CoherenceIssueId,
  deriveId,
  type Timestamp,
} from '@signalbox/model';
import type { Fact } from '../facts.ts';
import type { InnerFact } from '../inner-facts.ts';
import { kept, type Step } from '../step.ts';
import type { CoherenceConfig } from './coherence-config.ts';
import type { CoherenceCandidate, CoherenceState } from './coherence-state.ts';

const CANDIDATES_KEPT = 200;
const REVIEW_BATCH = 5;
const HOUR_MS = 3_600_000;
const REMEMBERED = 500;

/** Which artifacts can be compared as text; the rest is left to layers 0 and 2. */
export function isComparable({ kind, mimeType = '' }: ArtifactEvent): boolean {
  const isText = mimeType.startsWith('text/');
  switch (kind) {
    case 'code':
    case 'config':
    case 'test':
      return isText;
    case 'document':
      return isText || mimeType === 'application/json' || mimeType === 'application/pdf';
    default:
      return false;
  }
}

/** Layer 1: asks how alike the artifacts are that changed, each with those of other workstreams. */
export function scanned(
  state: CoherenceState,
  config: CoherenceConfig,
  at: Timestamp,
  tick: number,
): Step<CoherenceState> {
  const { scan, comparable } = state;
  const isDue = scan.isWanted || tick - scan.lastTick >= config.layer1ScanIntervalTicks;
  if (!isDue || scan.changed.length === 0) return kept(state);
  const after = { ...state, scan: { number: scan.number + 1, lastTick: tick, changed: [], isWanted: false } };
  const ids = Object.keys(comparable) as ArtifactId[];
  const [first] = scan.changed;
  const agentId = first === undefined ? undefined : comparable[first]?.agentId;
  if (ids.length > config.layer1MaxArtifactsPerScan) {
    const message = `Coherence scan skipped: ${ids.length} artifacts, the limit is ${config.layer1MaxArtifactsPerScan}.`;
    return {
      // What changed stays to be compared: the limit may be raised.
      state: { ...after, scan: { ...after.scan, changed: scan.changed } },
      effects: agentId === undefined ? [] : [{ kind: 'own_event', at, event: { type: 'status', agentId, message } }],
    };
  }
  const changed = new Set(scan.changed);
  const dismissed = new Set(state.dismissedPairs);
  const pairs = scan.changed.flatMap(a =>
    ids
      .filter(b => b !== a && !(changed.has(b) && b < a) && comparable[a]?.workstream !== comparable[b]?.workstream)
      .map((b): readonly [ArtifactId, ArtifactId] => (a < b ? [a, b] : [b, a]))
      .filter(([x, y]) => !dismissed.has(pairId(x, y))),
  );
  return {
    state: after,
    effects: pairs.length === 0 ? [] : [{ kind: 'request_similarities', scan: after.scan.number, pairs }],
  };
}

/** Pairs that are alike are issues of low severity; those that are very alike are reviewed. */
export function compared(
  state: CoherenceState,
  { at, scores }: Extract<Fact, { kind: 'similarities_computed' }>,
  config: CoherenceConfig,
): Step<CoherenceState> {
  const threshold = state.promotionThreshold ?? config.layer1PromotionThreshold;
  const known = new Set([...state.candidates, ...state.underReview].map(idOfCandidate).concat(state.dismissedPairs));
  const promoted: CoherenceCandidate[] = [];
  const effects: InnerFact[] = [];
  for (const { a, b, score } of scores) {
    const [one, other] = [state.comparable[a], state.comparable[b]];
    if (one === undefined || other === undefined || known.has(pairId(a, b)) || score <= config.layer1AdvisoryThreshold)
      continue;
    const candidate: CoherenceCandidate = {
      artifactIdA: a < b ? a : b,
      artifactIdB: a < b ? b : a,
      workstreamA: a < b ? one.workstream : other.workstream,
      workstreamB: a < b ? other.workstream : one.workstream,
      similarityScore: score,
      candidateCategory: 'duplication',
      detectedAt: at,
      promotedToLayer2: score > threshold && config.enableLayer2,
    };
    if (candidate.promotedToLayer2) promoted.push(candidate);
    else {
      const severity = score > threshold ? 'medium' : 'low';
      const description = `Their similarity is ${score}. ${score > threshold ? 'Nobody confirmed it.' : 'It may be fine.'}`;
      effects.push({ kind: 'own_event', at, event: issueOf(candidate, one.agentId, { severity, description }) });
    }
  }
  const candidates = [...state.candidates, ...promoted].slice(-CANDIDATES_KEPT);
  const asked = reviewsAsked({ ...state, candidates }, config, at);
  return { state: asked.state, effects: [...effects, ...asked.effects] };
}

/** Layer 2: asks for reviews of what waits, five pairs each, as many in an hour as the project allows. */
export function reviewsAsked(state: CoherenceState, config: CoherenceConfig, at: Timestamp): Step<CoherenceState> {
  if (state.candidates.length === 0) return kept(state);
  const recent = state.reviewsAskedAt.filter(asked => Date.parse(at) - Date.parse(asked) < HOUR_MS);
  const room = Math.max(0, config.layer2MaxReviewsPerHour - recent.length);
  const batches = Math.min(room, Math.ceil(state.candidates.length / REVIEW_BATCH));
  if (batches === 0) return kept(state);
  const taken = state.candidates.slice(0, batches * REVIEW_BATCH);
  return {
    state: {
      ...state,
      candidates: state.candidates.slice(taken.length),
      underReview: [...state.underReview, ...taken],
      reviewsAskedAt: [...recent, ...Array.from({ length: batches }, () => at)],
    },
    effects: Array.from({ length: batches }, (_, batch) => ({
      kind: 'request_reviews' as const,
      candidates: taken.slice(batch * REVIEW_BATCH, (batch + 1) * REVIEW_BATCH),
    })),
  };
}

/** What a review confirms is an issue; what it dismisses is not looked at again. */
export function reviewed(
  state: CoherenceState,
  { at, results }: Extract<Fact, { kind: 'reviews_returned' }>,
  config: CoherenceConfig,
): Step<CoherenceState> {
  const effects: InnerFact[] = [];
  const dismissedPairs = [...state.dismissedPairs];
  const verdicts = [...state.verdicts];
  const answered = new Set<string>();
  for (const result of results) {
    const candidate = state.underReview.find(waiting => idOfCandidate(waiting) === result.candidateId);
    if (candidate === undefined || answered.has(result.candidateId)) continue;
    answered.add(result.candidateId);
    verdicts.push({ at, isFalse: !result.confirmed });
    const agentId = result.notifyAgentIds[0] ?? state.comparable[candidate.artifactIdA]?.agentId;
    if (!result.confirmed) dismissedPairs.push(result.candidateId);
    else if (agentId !== undefined) {
      const words = result.suggestedResolution === undefined ? '' : ` ${result.suggestedResolution}`;
      const event = issueOf(
        { ...candidate, candidateCategory: result.category ?? candidate.candidateCategory },
        agentId,
        {
          severity: result.severity ?? 'medium',
          description: `${result.explanation}${words}`,
        },
      );
      effects.push({ kind: 'own_event', at, event });
    }
  }
  const after = tuned(
    {
      ...state,
      underReview: state.underReview.filter(waiting => !answered.has(idOfCandidate(waiting))),
      dismissedPairs: dismissedPairs.slice(-REMEMBERED),
      verdicts: verdicts.slice(-REMEMBERED),
    },
    config,
    at,
  );
  return { state: after, effects };
}

/** With feedback, many false positives raise the threshold and few lower it. */
function tuned(
  state: CoherenceState,
  { feedbackLoop, layer1PromotionThreshold }: CoherenceConfig,
  at: Timestamp,
): CoherenceState {
  if (!feedbackLoop.enabled) return state;
  const since = Date.parse(at) - feedbackLoop.falsePositiveWindowHours * HOUR_MS;
  const recent = state.verdicts.filter(verdict => Date.parse(verdict.at) >= since);
  if (recent.length < feedbackLoop.minReviewsForAdjustment) return state;
  const share = recent.filter(({ isFalse }) => isFalse).length / recent.length;
  const step =
    share > 0.5 ? feedbackLoop.thresholdAdjustStepUp : share < 0.1 ? -feedbackLoop.thresholdAdjustStepDown : 0;
  if (step === 0) return state;
  const next = (state.promotionThreshold ?? layer1PromotionThreshold) + step;
  const clamped = Math.min(feedbackLoop.thresholdClampMax, Math.max(feedbackLoop.thresholdClampMin, next));
  // The window begins again, so that the same reviews do not count twice.
  return { ...state, promotionThreshold: Math.round(clamped * 1000) / 1000, verdicts: [] };
}

function issueOf(
  candidate: CoherenceCandidate,
  agentId: AgentEvent['agentId'],
  {
    severity,
    description,
  }: { readonly severity: 'low' | 'medium' | 'high' | 'critical' | 'warning'; readonly description: string },
): AgentEvent {
  const { artifactIdA, artifactIdB, workstreamA, workstreamB, candidateCategory } = candidate;
  return {
    type: 'coherence',
    agentId,
    issueId: deriveId<CoherenceIssueId>('coherence', 'similar', artifactIdA, artifactIdB),
    title: `Artifacts of ${workstreamA} and ${workstreamB} are alike`,
    description,
    category: candidateCategory,
    severity,
    affectedWorkstreams: [workstreamA, workstreamB],
    affectedArtifactIds: [artifactIdA, artifactIdB],
  };
}

function idOfCandidate({ artifactIdA, artifactIdB }: CoherenceCandidate): string {
  return pairId(artifactIdA, artifactIdB);
}

/** The name of a pair, by which a review refers to it. */
function pairId(a: ArtifactId, b: ArtifactId): string {
  return a < b ? `${a}:${b}` : `${b}:${a}`;
}
