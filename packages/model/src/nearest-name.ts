/** Limits the length of names, so that suggestions take bounded time. */
const LONGEST_NAME = 60;

/** The known name that a mistyped one most likely means; undefined if none is close. */
export function nearestName(given: string, known: readonly string[]): string | undefined {
  const wanted = plain(given);
  if (wanted === '' || given.length > LONGEST_NAME) return undefined;
  const ranked = known
    .filter(name => name.length <= LONGEST_NAME)
    .map(name => ({ name, far: editDistance(wanted, plain(name)) }))
    .sort((a, b) => a.far - b.far || (a.name < b.name ? -1 : 1));
  const [best] = ranked;
  if (best !== undefined && best.far <= Math.max(wanted.length < 4 ? 1 : 2, Math.floor(wanted.length / 3)))
    return best.name;
  // A part of it is a name of its own: `grep_files` for `grep`.
  return known.find(name => plain(name).length >= 3 && (wanted.includes(plain(name)) || plain(name).includes(wanted)));
}

/** ` Did you mean "grep"?`, or nothing. */
export function didYouMean(given: string, known: readonly string[]): string {
  const nearest = nearestName(given, known);
  return nearest === undefined ? '' : ` Did you mean "${nearest}"?`;
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/** How many letters must be added, removed or replaced (Levenshtein). */
export function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
