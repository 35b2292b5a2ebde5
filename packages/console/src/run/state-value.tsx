import type { Json } from '@signalbox/model';
import type { KeyDiff } from '../story/state-diff.ts';

interface StateValueProps {
  readonly diff: Omit<KeyDiff, 'key'>;
  textOf(value: Json): string;
}

/** A value as it was and as it is; once where nothing changed. It is text and nothing else. */
export function StateValue({ diff: { kind, before, after }, textOf }: StateValueProps) {
  return (
    <>
      {kind !== 'same' && before !== undefined && (
        <pre className="value-old">
          <del>{textOf(before)}</del>
        </pre>
      )}
      {after !== undefined && (
        <pre className={kind === 'same' ? '' : 'value-new'}>
          {kind === 'same' ? textOf(after) : <ins>{textOf(after)}</ins>}
        </pre>
      )}
    </>
  );
}
