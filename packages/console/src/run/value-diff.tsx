import type { Json } from '@signalbox/model';
import { changedLines } from './changed-lines.ts';
import { Patch } from './patch.tsx';

/** A value as people read it: text as text, with its line breaks; anything else as JSON. */
export function valueText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

const isLong = (text: string): boolean => text.includes('\n');

/** A value before and after: short ones one after the other, texts of several lines line by line. */
export function ValueDiff({
  before,
  after,
  textOf = valueText,
}: {
  readonly before: Json | undefined;
  readonly after: Json | undefined;
  textOf?(value: Json): string;
}) {
  if (before === undefined && after === undefined) return null;
  const [old, now] = [
    before === undefined ? undefined : textOf(before),
    after === undefined ? undefined : textOf(after),
  ];
  if (old !== undefined && now !== undefined && (isLong(old) || isLong(now))) {
    return <Patch lines={changedLines(old, now).filter(({ kind }) => kind !== 'place')} />;
  }
  return (
    <>
      {old !== undefined && (
        <pre className="value-old">
          <del>{old}</del>
        </pre>
      )}
      {now !== undefined && (
        <pre className="value-new">
          <ins>{now}</ins>
        </pre>
      )}
    </>
  );
}
