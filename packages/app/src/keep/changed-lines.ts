/** Counts the files and lines that a diff changes, as git and our own notes about what is no text show them. */
export function changedLines(diff: string): {
  readonly files: number;
  readonly added: number;
  readonly removed: number;
} {
  let [files, added, removed] = [0, 0, 0];
  /** Lines of the current hunk that are left on either side. */
  let [before, after] = [0, 0];
  for (const line of diff.split('\n')) {
    if (before > 0 || after > 0) {
      if (line.startsWith('\\')) continue;
      if (line.startsWith('+')) [added, after] = [added + 1, after - 1];
      else if (line.startsWith('-')) [removed, before] = [removed + 1, before - 1];
      else [before, after] = [before - 1, after - 1];
      continue;
    }
    const hunk = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line);
    if (hunk !== null) [before, after] = [Number(hunk[1] ?? 1), Number(hunk[2] ?? 1)];
    else if (line.startsWith('diff --git ') || NOTE.test(line)) files++;
  }
  return { files, added, removed };
}

const NOTE = /^(?:created directory|changed mode|changed, not shown|removed): /;
