/** The source of randomness: the machine in production, a seed in tests and replays. */
export interface Rng {
  bytes(length: number): Uint8Array;
}
