import type { Json } from '@signalbox/model';
import type { ReactNode } from 'react';
import type { KeyDiff } from '../story/state-diff.ts';

interface StateRowProps {
  readonly diff: KeyDiff;
  /** What is said beside a key that is not as it was. */
  readonly marks: Readonly<Record<Exclude<KeyDiff['kind'], 'same'>, string>>;
  textOf(value: Json): string;
  /** What can be done about it. */
  readonly children?: ReactNode;
}

/** A key with its value as it was and as it is; once where nothing changed. It is text and nothing else. */
export function StateRow({ diff: { key, kind, before, after }, marks, textOf, children }: StateRowProps) {
  return (
    <tr data-change={kind}>
      <th scope="row">
        {key} {kind !== 'same' && <span className="change-mark">{marks[kind]}</span>}
      </th>
      <td>
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
      </td>
      {children !== undefined && <td>{children}</td>}
    </tr>
  );
}
