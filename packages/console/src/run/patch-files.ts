/** A line of a patch. */
export interface PatchLine {
  readonly kind: 'place' | 'added' | 'removed' | 'same';
  readonly text: string;
}

/** The lines of a git patch, by file, without git's headers. */
export function patchFiles(patch: string): ReadonlyMap<string, readonly PatchLine[]> {
  const files = new Map<string, PatchLine[]>();
  let lines: PatchLine[] | undefined;
  let removed: string | undefined;
  for (const text of patch.split('\n')) {
    if (text.startsWith('diff --git ')) {
      lines = undefined;
      removed = undefined;
    } else if (lines === undefined && text.startsWith('--- ')) removed = nameOf(text);
    else if (lines === undefined && text.startsWith('+++ ')) {
      const name = nameOf(text) ?? removed;
      lines = [];
      if (name !== undefined) files.set(name, lines);
    } else if (lines !== undefined && /^[ +@\\-]/.test(text)) lines.push({ kind: kindOf(text), text });
  }
  return files;
}

/** Undefined if the file does not exist on this side. */
function nameOf(line: string): string | undefined {
  const name = line
    .slice(4)
    .replace(/\t.*$/, '')
    .replace(/^"(.*)"$/, '$1');
  return name === '/dev/null' ? undefined : name.replace(/^[ab]\//, '');
}

function kindOf(text: string): PatchLine['kind'] {
  if (text.startsWith('@@')) return 'place';
  if (text.startsWith('+')) return 'added';
  return text.startsWith('-') ? 'removed' : 'same';
}
