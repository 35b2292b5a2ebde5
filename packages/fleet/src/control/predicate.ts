import { type BlastRadius, blastRadiusRank, type EscalationPredicate } from '@signalbox/model';

/** What a rule can ask about. */
export interface EscalationFacts {
  readonly confidence: number;
  readonly blastRadius: BlastRadius;
  readonly affectsMultipleWorkstreams: boolean;
  readonly trust: { readonly score: number; readonly margin: number };
}

type NumberOp = 'lt' | 'gt' | 'lte' | 'gte';

/** Whether a rule applies. `unknown` is the highest blast radius, and a score that few outcomes support counts against the agent. */
export function predicateHolds(predicate: EscalationPredicate, facts: EscalationFacts): boolean {
  if ('type' in predicate) {
    return predicate.type === 'and'
      ? predicate.rules.every(rule => predicateHolds(rule, facts))
      : predicate.rules.some(rule => predicateHolds(rule, facts));
  }
  switch (predicate.field) {
    case 'confidence':
      return compares(facts.confidence, predicate.op, predicate.value);
    case 'blastRadius': {
      const [rank, wanted] = [blastRadiusRank(facts.blastRadius), blastRadiusRank(predicate.value)];
      return predicate.op === 'eq' ? rank === wanted : rank >= wanted;
    }
    case 'trustScore': {
      const { score, margin } = facts.trust;
      const isBelow = predicate.op === 'lt' || predicate.op === 'lte';
      return compares(isBelow ? score - margin : score + margin, predicate.op, predicate.value);
    }
    case 'affectsMultipleWorkstreams':
      return facts.affectsMultipleWorkstreams === predicate.value;
  }
}

function compares(value: number, op: NumberOp, other: number): boolean {
  switch (op) {
    case 'lt':
      return value < other;
    case 'lte':
      return value <= other;
    case 'gt':
      return value > other;
    case 'gte':
      return value >= other;
  }
}
