import type * as z from 'zod';
import { type JsonColumns, StoreDamage } from './json-column.ts';

/** An SQLite value, as bound and read. */
export type Cell = null | number | bigint | string | Uint8Array;
export type Row = Record<string, unknown>;

/** Converts between records and rows of a table whose columns are the record's fields in snake case. */
export interface RowCodec<T> {
  readonly columns: readonly string[];
  /** In the order of `columns`. */
  toCells(record: T): Cell[];
  /** Checked: a row that does not match the schema is damage. */
  fromRow(row: Row): T;
}

export function rowCodec<T extends object>(
  json: JsonColumns,
  schema: z.ZodType<T>,
  fields: Readonly<Record<keyof T & string, 'plain' | 'json'>>,
): RowCodec<T> {
  const entries = (Object.entries(fields) as [keyof T & string, 'plain' | 'json'][]).map(
    ([field, kind]) => ({ field, kind, column: snakeCase(field) }) as const,
  );
  return {
    columns: entries.map(({ column }) => column),
    toCells: record =>
      entries.map(({ field, kind }) => {
        const value = record[field];
        if (value === undefined) return null;
        return kind === 'json' ? json.cellOf(JSON.stringify(value)) : (value as Cell);
      }),
    fromRow(row) {
      const record: Record<string, unknown> = {};
      for (const { field, kind, column } of entries) {
        const cell = row[column];
        if (cell !== null) record[field] = kind === 'json' ? JSON.parse(json.textOf(cell)) : cell;
      }
      const parsed = schema.safeParse(record);
      if (parsed.success) return parsed.data;
      throw new StoreDamage(`a row is damaged at ${parsed.error.issues[0]?.path.join('.')}`);
    },
  };
}

function snakeCase(field: string): string {
  return field.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
}
