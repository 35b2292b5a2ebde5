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
