import type { Json } from '@signalbox/model';
import type { ReactNode } from 'react';
import type { KeyDiff } from '../story/state-diff.ts';
import { ValueDiff } from './value-diff.tsx';

interface StateRowProps {
  readonly diff: KeyDiff;
  /** The words for a changed key. */
  readonly marks: Readonly<Record<Exclude<KeyDiff['kind'], 'same'>, string>>;
  textOf(value: Json): string;
  /** The actions for it. */
  readonly children?: ReactNode;
}

/** A key with its value before and after, or once if unchanged. Plain text only. */
export function StateRow({ diff: { key, kind, before, after }, marks, textOf, children }: StateRowProps) {
  return (
    <tr data-change={kind}>
      <th scope="row">
        {key} {kind !== 'same' && <span className="change-mark">{marks[kind]}</span>}
      </th>
      <td>
        {kind === 'same' ? (
          after !== undefined && <pre>{textOf(after)}</pre>
        ) : (
          <ValueDiff before={before} after={after} textOf={textOf} />
        )}
      </td>
      {children !== undefined && <td>{children}</td>}
    </tr>
  );
}
