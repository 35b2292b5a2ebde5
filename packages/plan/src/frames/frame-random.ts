/** Numbers from 0 up to 1 that a seed and a frame repeat. SplitMix32; not for keys. */
export function frameRandom(seed: number, frame: number): () => number {
  let state = (Math.imul(seed ^ 0x5bd1_e995, 0x9e37_79b1) ^ Math.imul(frame + 1, 0x85eb_ca6b)) >>> 0;
  return () => {
    state = (state + 0x9e37_79b9) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0_aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a_2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 0x1_0000_0000;
  };
}
