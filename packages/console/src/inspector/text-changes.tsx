import { changedLines } from '../run/changed-lines.ts';
import { Patch } from '../run/patch.tsx';
import type { TextChange } from '../story/tool-call.ts';

/** The changes that an agent shows with a tool call, file by file. */
export function TextChanges({ changes }: { readonly changes: readonly TextChange[] }) {
  return changes.map(({ path, before, after }, index) => (
    <figure key={`${index} ${path}`} aria-label={`Change of ${path}`} className="change">
      <figcaption>
        <code>{path}</code> {before === '' && <span className="text-muted">new</span>}
      </figcaption>
      <Patch lines={changedLines(before, after)} />
    </figure>
  ));
}
