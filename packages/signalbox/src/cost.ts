/** An amount of money for people, from millionths of a US dollar. */
export function describeCost(microUsd: number): string {
  return `$${(microUsd / 1_000_000).toFixed(microUsd < 10_000 ? 4 : 2)}`;
}
