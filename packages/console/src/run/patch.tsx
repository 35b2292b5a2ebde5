import { fileChanges } from '../inspector/file-changes.ts';
import type { PatchLine } from './patch-files.ts';

/** The lines of a patch, coloured by change. */
export function Patch({ lines }: { readonly lines: readonly PatchLine[] }) {
  return (
    <pre className="patch">
      {lines.map(({ kind, text }, index) => (
        <span key={`${index} ${text}`} className={`patch-${kind}`}>
          {text}
          {'\n'}
        </span>
      ))}
    </pre>
  );
}

/** A patch, file by file. */
export function PatchFiles({ patch }: { readonly patch: string }) {
  return fileChanges(patch).map(({ path, lines }, place) => (
    <section key={`${place} ${path}`} aria-label={path} className="change">
      <h4 className="change-head">
        <code>{path}</code>
      </h4>
      <Patch lines={lines} />
    </section>
  ));
}
