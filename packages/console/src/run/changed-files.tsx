import type { ChangedPath, RunChanges } from '@signalbox/model';
import { many } from '../story/words.ts';
import { changedLines } from './changed-lines.ts';
import { SplitPatch } from './split-patch.tsx';

const changeWords = { added: 'new', removed: 'removed', changed: 'changed' } as const;
const whyWords = {
  'not-text': 'Not shown: it is not a text file.',
  'too-large': 'Not shown: it is larger than 200 kB.',
  'too-many': 'Not shown: the changes before it take all the room.',
  gone: 'Not shown: its content was collected.',
} as const;

/** Up to so many files begin open. */
const OPEN = 4;

/** Every changed file, by directory, side by side. */
export default function ChangedFiles({ directories, unknown }: RunChanges) {
  const count = directories.reduce((sum, { files }) => sum + files.length, 0);
  return (
    <>
      {directories.map(({ directory, files }) => (
        <section key={directory} aria-label={directory === '' ? 'Changed files' : directory} className="changed-files">
          <p className="text-muted">
            {many(files.length, 'file')} changed{directory !== '' && ' in '}
            {directory !== '' && <code>{directory}</code>}
          </p>
          {files.map(file => (
            <ChangedFile key={file.path} file={file} isOpen={count <= OPEN} />
          ))}
        </section>
      ))}
      {unknown.map(why => (
        <p key={why} className="missing">
          Some changes are unknown: {why}
        </p>
      ))}
    </>
  );
}

function ChangedFile({ file, isOpen }: { readonly file: ChangedPath; readonly isOpen: boolean }) {
  const { path, change, before, after, why } = file;
  const lines = before === undefined || after === undefined ? [] : changedLines(before, after);
  const added = lines.filter(({ kind }) => kind === 'added').length;
  const removed = lines.filter(({ kind }) => kind === 'removed').length;
  return (
    <details className="change" open={isOpen}>
      <summary className="change-head">
        <code>{path}</code> <span className="text-muted">{changeWords[change]}</span>
        {lines.length > 0 && (
          <span className="change-count">
            <ins>+{added}</ins> <del>−{removed}</del>
          </span>
        )}
      </summary>
      {why === undefined ? <SplitPatch lines={lines} /> : <p className="px-3 py-2 text-muted">{whyWords[why]}</p>}
    </details>
  );
}
