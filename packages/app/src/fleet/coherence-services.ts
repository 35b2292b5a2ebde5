import type { CoherenceCandidate, Fact } from '@signalbox/fleet';
import type { ArtifactId } from '@signalbox/model';

type Similarities = Extract<Fact, { kind: 'similarities_computed' }>['scores'];
type Reviews = Extract<Fact, { kind: 'reviews_returned' }>['results'];

/** What layers 1 and 2 of the coherence checks ask for. */
export interface CoherenceServices {
  similarities(pairs: readonly (readonly [ArtifactId, ArtifactId])[]): Promise<Similarities>;
  reviews(candidates: readonly CoherenceCandidate[]): Promise<Reviews>;
}
