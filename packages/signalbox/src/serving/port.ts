/** A port number; undefined if invalid. */
export function portOf(given: string): number | undefined {
  return /^\d{1,5}$/.test(given) && Number(given) <= 65_535 ? Number(given) : undefined;
}
