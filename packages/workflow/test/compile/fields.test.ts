import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { atPointer } from '../../src/compile/source-copy.ts';
import { sourceFields } from '../../src/compile/source-format.ts';
import { compile, snapshotOf } from './sources.ts';

/** One file a field: a source that has it, and what it does to the snapshot, or that it does nothing. */
interface FieldFile {
  readonly source: Readonly<Record<string, unknown>>;
  readonly routines?: readonly unknown[];
  readonly warns?: readonly string[];
  readonly shows?: Readonly<Record<string, unknown>>;
  readonly changesNothing?: true;
}

const folder = new URL('fields/', import.meta.url);
const names = readdirSync(folder).map(file => file.replace(/\.json$/, ''));

describe('[W35] every field of the format', () => {
  it('has a file; fields that all steps share have one for all', () => {
    const wanted = Object.entries(sourceFields).flatMap(([kind, fields]) =>
      fields
        .filter(field => kind !== 'parallel' || field === 'type' || !sourceFields.standard.includes(field))
        .map(field => `${kind}.${field}`),
    );
    expect(names.toSorted()).toEqual(wanted.toSorted());
  });

  it.each(names)('%s', name => {
    const field = JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8')) as FieldFile;
    const setting = field.routines === undefined ? {} : { routines: field.routines };
    const compiled = compile(field.source, setting);
    expect(compiled.ok ? compiled.value.warnings.map(each => each.code) : compiled.error.problems).toEqual(
      field.warns ?? [],
    );
    const snapshot = snapshotOf(field.source, setting);
    const shown = Object.keys(field.shows ?? {}).map(pointer => [pointer, atPointer(snapshot, pointer).value]);
    expect(Object.fromEntries(shown)).toEqual(field.shows ?? {});
    if (field.changesNothing) {
      const { [name.slice(name.indexOf('.') + 1)]: _, ...without } = field.source;
      expect(snapshotOf(without)).toEqual(snapshot);
    }
  });
});
