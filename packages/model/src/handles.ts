/**
 * The short form of an id, for people: its end, because ids that are minted in the same minute begin alike. Every surface shows this
 * one.
 */
export function shortId(id: string): string {
  return id.slice(-8);
}

/** Whether a text is an id, or the beginning or end of one. */
export function namesId(id: string, given: string): boolean {
  if (given === '') return false;
  const text = given.toLowerCase();
  return id.startsWith(text) || id.endsWith(text);
}
