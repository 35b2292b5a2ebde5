import { MergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView, highlightSpecialChars } from '@codemirror/view';
import { useEffect, useRef } from 'react';

const theme = EditorView.theme({
  '&': { fontSize: '12px', backgroundColor: 'var(--surface)', color: 'var(--ink)' },
  '.cm-scroller': { fontFamily: 'ui-monospace, "SF Mono", Menlo, Consolas, monospace', lineHeight: '18px' },
  '&.cm-merge-a .cm-changedLine, .cm-deletedChunk': { backgroundColor: 'var(--failed-wash)' },
  '&.cm-merge-b .cm-changedLine, .cm-inlineChangedLine': { backgroundColor: 'var(--done-wash)' },
  '&.cm-merge-a .cm-changedText': { background: 'none', textDecoration: 'underline 2px var(--failed)' },
  '&.cm-merge-b .cm-changedText': { background: 'none', textDecoration: 'underline 2px var(--done)' },
  '.cm-changeGutter': { display: 'none' },
  '.cm-content': { padding: '4px 0' },
  '.cm-collapsedLines': { backgroundColor: 'var(--raised)', color: 'var(--muted)', backgroundImage: 'none' },
});

/**
 * Two texts side by side, with differences marked. It lives in a shadow root: there the editor adds its styles as a sheet, which the
 * content security policy allows, and not inline, which it forbids.
 */
export function SideBySide({ before, after }: { readonly before: string; readonly after: string }) {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const parent = host.current;
    if (parent === null) return;
    const root = parent.shadowRoot ?? parent.attachShadow({ mode: 'open' });
    const side = (doc: string, label: string) => ({
      doc,
      extensions: [
        theme,
        highlightSpecialChars(),
        EditorView.lineWrapping,
        EditorView.editable.of(false),
        EditorState.readOnly.of(true),
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0', role: 'textbox' }),
      ],
    });
    const view = new MergeView({
      a: side(before, 'Current'),
      b: side(after, 'Proposed'),
      root,
      gutter: false,
      collapseUnchanged: { margin: 3, minSize: 6 },
    });
    root.append(view.dom);
    return () => {
      view.destroy();
      view.dom.remove();
    };
  }, [before, after]);
  return <div ref={host} className="sidebyside" />;
}
