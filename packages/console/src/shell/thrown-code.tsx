import { codeFrame, DEFAULT_EDITOR_URL, editorUrl, shortPlace, type ThrownPlace } from '@signalbox/model';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';

interface ThrownCodeProps {
  readonly thrown: ThrownPlace | undefined;
  /** Whether the stack begins open. */
  readonly isOpen?: boolean;
}

/** Where the author's code threw: a link that opens the editor, the lines, and the calls that led there. */
export function ThrownCode({ thrown, isOpen = false }: ThrownCodeProps) {
  const template = useEditor(thrown !== undefined);
  if (thrown === undefined) return null;
  const { element, reads = [], stack = [], file, line, column } = thrown;
  const place = `${file}:${line}:${column}`;
  return (
    <figure className="thrown" aria-label="Where it was thrown">
      <figcaption>
        {template === '' ? (
          <code title={place}>{shortPlace(thrown)}</code>
        ) : (
          <a className="underline" href={editorUrl(template, thrown)} title={`Open ${place}`}>
            {shortPlace(thrown)}
          </a>
        )}
        {element !== undefined && (
          <span className="text-muted">
            {' '}
            in {element.kind} {element.id}
          </span>
        )}
        {reads.length > 0 && <span className="text-muted"> having read {reads.join(', ')}</span>}
      </figcaption>
      {thrown.code !== undefined && <Code lines={codeFrame(thrown)} />}
      {stack.length > 1 && (
        <details open={isOpen}>
          <summary>Stack</summary>
          <Code lines={stack} />
        </details>
      )}
    </figure>
  );
}

/** The address that opens a place in the person's editor; empty for no links. Callers that may not read the settings get the default. */
export function useEditor(isNeeded: boolean): string {
  const client = useClient();
  const { data } = useRead(['settings'], () => client.settings(), { keeps: true, isEnabled: isNeeded });
  const given = data?.items.find(({ name }) => name === 'editor.url')?.applied;
  return typeof given === 'string' ? given : DEFAULT_EDITOR_URL;
}

function Code({ lines }: { readonly lines: readonly string[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled with the keyboard
    <pre className="thrown-code" tabIndex={0}>
      {lines.join('\n')}
    </pre>
  );
}
