import type { ArtifactId } from '@signalbox/model';
import type { MockCoherenceScenario } from './mock-script.ts';

type ReviewResult = MockCoherenceScenario['layer2Results'][number]['result'];

/** What two models would say of the artifacts of a scenario: how alike two of them are, and whether that is a problem. */
export function mockCoherence({ artifactSimilarities, layer2Results }: MockCoherenceScenario): {
  /** 0 for a pair that the scenario does not have. */
  computeSimilarity(a: ArtifactId, b: ArtifactId): Promise<number>;
  /** Candidates that the scenario does not have are not confirmed. */
  review(candidates: readonly Candidate[]): Promise<readonly ReviewResult[]>;
} {
  return {
    async computeSimilarity(a, b) {
      const match = artifactSimilarities.find(
        ({ artifactIdA, artifactIdB }) =>
          (artifactIdA === a && artifactIdB === b) || (artifactIdA === b && artifactIdB === a),
      );
      return match?.similarityScore ?? 0;
    },
    async review(candidates) {
      return candidates.map(({ artifactIdA, artifactIdB }) => {
        const candidateId = `${artifactIdA}:${artifactIdB}`;
        const turned = `${artifactIdB}:${artifactIdA}`;
        const scripted = layer2Results.find(result => [candidateId, turned].includes(result.candidateId));
        return {
          ...(scripted?.result ?? {
            confirmed: false,
            explanation: 'The scenario says nothing about it.',
            notifyAgentIds: [],
          }),
          candidateId,
        };
      });
    },
  };
}

interface Candidate {
  readonly artifactIdA: ArtifactId;
  readonly artifactIdB: ArtifactId;
}
