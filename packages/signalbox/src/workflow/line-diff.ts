/** The lines of two texts that differ, `-` before and `+` after, with the line number of each change. */
export function lineDiff(before: string, after: string): readonly string[] {
  const [from, to] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < from.length && start < to.length && from[start] === to[start]) start++;
  let end = 0;
  while (end < Math.min(from.length, to.length) - start && from.at(-1 - end) === to.at(-1 - end)) end++;
  const [old, now] = [from.slice(start, from.length - end), to.slice(start, to.length - end)];
  // Beyond this, the table of common lines would take too long; the change is shown as a whole.
  if (old.length * now.length > MOST_CELLS) return [`@ line ${start + 1}`, ...marked('-', old), ...marked('+', now)];
  return changes(old, now, start);
}

const MOST_CELLS = 4_000_000;

const marked = (mark: string, lines: readonly string[]) => lines.map(line => `${mark} ${line}`);

function changes(old: readonly string[], now: readonly string[], start: number): readonly string[] {
  const common = commonLines(old, now);
  const told: string[] = [];
  let [i, j] = [0, 0];
  let isOpen = false;
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      [i, j, isOpen] = [i + 1, j + 1, false];
      continue;
    }
    if (!isOpen) told.push(`@ line ${start + i + 1}`);
    isOpen = true;
    const takesOld = j >= now.length || (i < old.length && (common[i + 1]?.[j] ?? 0) >= (common[i]?.[j + 1] ?? 0));
    told.push(takesOld ? `- ${old[i++]}` : `+ ${now[j++]}`);
  }
  return told;
}

/** How many lines the rests of both texts have in common, from each pair of places. */
function commonLines(old: readonly string[], now: readonly string[]): readonly Uint32Array[] {
  const table = Array.from({ length: old.length + 1 }, () => new Uint32Array(now.length + 1));
  for (let i = old.length - 1; i >= 0; i--) {
    const [row, below] = [table[i], table[i + 1]];
    if (row === undefined || below === undefined) continue;
    for (let j = now.length - 1; j >= 0; j--) {
      row[j] = old[i] === now[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  return table;
}
