import { changedLines } from '../run/changed-lines.ts';
import { Patch } from '../run/patch.tsx';
import type { TextChange } from '../story/tool-call.ts';

/** The changes that an agent shows with a tool call, file by file. */
export function TextChanges({ changes }: { readonly changes: readonly TextChange[] }) {
  return changes.map(({ path, before, after }, index) => (
    <section key={`${index} ${path}`} aria-label={`Change of ${path}`} className="change">
      <h4 className="change-head">
        <code>{path}</code> {before === '' && <span className="text-muted">new</span>}
      </h4>
      <Patch lines={changedLines(before, after)} />
    </section>
  ));
}
