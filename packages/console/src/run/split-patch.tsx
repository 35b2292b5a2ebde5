import { Exact } from '../shell/exact.tsx';
import type { PatchLine } from './patch-files.ts';
import { splitLines } from './split-lines.ts';

/** The lines of a change, both sides next to each other; below each other where there is no room. */
export function SplitPatch({ lines }: { readonly lines: readonly PatchLine[] }) {
  const rows = splitLines(lines);
  // A file that is new, or gone, has one side only.
  const isOneSided = rows.every(({ before, kind }) => kind !== 'same' && (before === undefined || kind === 'place'));
  return (
    <div className="split-box">
      <table className="split" data-one={isOneSided || undefined}>
        <thead className="sr-only">
          <tr>
            <th scope="col">Before</th>
            <th scope="col">After</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ kind, before, after }, index) => (
            <tr key={index} data-kind={kind}>
              {kind === 'place' ? (
                <td colSpan={2} className="split-place">
                  {before}
                </td>
              ) : (
                <>
                  <td data-side={before === undefined ? 'none' : kind === 'changed' ? 'removed' : 'same'}>
                    {before !== undefined && <Exact>{before}</Exact>}
                  </td>
                  <td data-side={after === undefined ? 'none' : kind === 'changed' ? 'added' : 'same'}>
                    {after !== undefined && <Exact>{after}</Exact>}
                  </td>
                </>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
