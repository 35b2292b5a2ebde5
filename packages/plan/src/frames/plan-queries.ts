import { hash } from 'node:crypto';
import { canonicalJson, type Json, thrownMessage } from '@signalbox/model';
import type { WriteSet } from '@signalbox/runs';
import { type QueryAccess, type QueryTable, queryTables } from '../context.ts';
import { type ErrorContext, PlanError } from '../plan-error.ts';
import { createReadable, noteRead, QUERY, TABLE } from '../render/tracked.ts';
import { frozen } from '../state/frozen.ts';

/** `ctx.db`: queries of committed data, and which of them are out of date. */
export interface PlanQueries {
  readonly access: QueryAccess;
  /** These tables changed. */
  invalidate(tables: readonly QueryTable[]): void;
  /** Call it after each commit. */
  committed(writes: WriteSet): void;
  /** The last answer that the render read under a key. */
  answerOf(key: string): Json | undefined;
}

export function createPlanQueries(
  query: ((sql: string, params: readonly Json[]) => readonly Json[]) | undefined,
  moment: () => ErrorContext,
  /** Called before each query: it sees every commit so far. */
  catchUp: () => void = () => {},
): PlanQueries {
  const tables = createReadable(TABLE, new Map());
  const answers = new Map<string, Json>();
  let versions = 0;
  const refuse = (what: string, cause?: unknown): never => {
    throw new PlanError('plan/render-failed', what, { context: moment(), cause });
  };
  const invalidate = (changed: readonly QueryTable[]) => {
    versions += 1;
    tables.write(new Map(changed.map(table => [table, versions])));
  };
  return {
    access: {
      query(sql, { params = [], invalidateOn }) {
        if (query === undefined) return refuse('ctx.db.query has no database here');
        const unknown = invalidateOn.find(table => !queryTables.includes(table));
        if (unknown !== undefined)
          refuse(`ctx.db.query cannot wait for '${unknown}'; it can for ${queryTables.join(', ')}`);
        if (invalidateOn.length === 0)
          refuse('ctx.db.query needs invalidateOn: the tables whose change makes it run again');
        for (const table of invalidateOn) tables.read(table);
        const key = `${QUERY}${hash('sha256', canonicalJson([sql, params]), 'hex').slice(0, 16)}`;
        noteRead(key);
        catchUp();
        const rows = frozen(answer(query, sql, params));
        if (!rows.ok) return refuse(`a query did not return plain data: ${rows.error}`);
        answers.set(key, rows.value);
        return rows.value as never;
      },
    },
    invalidate,
    committed(writes) {
      // Without any query, nothing is out of date.
      if (answers.size > 0) invalidate(tablesOf(writes));
    },
    answerOf: key => answers.get(key),
  };

  function answer(ask: NonNullable<typeof query>, sql: string, params: readonly Json[]): unknown {
    try {
      // Rows of a database may have another prototype; copies of them are plain data.
      return ask(sql, params).map(row => (typeof row === 'object' && row !== null ? structuredClone(row) : row));
    } catch (cause) {
      return refuse(`the query failed: ${thrownMessage(cause)}`, cause);
    }
  }
}

/** The tables that a commit changed. */
function tablesOf(writes: WriteSet): readonly QueryTable[] {
  const spaces = new Set(writes.intervals?.map(interval => interval.space));
  const changed: Record<QueryTable, boolean> = {
    runs: writes.run !== undefined,
    nodes: spaces.has('node') || spaces.has('status'),
    state: spaces.has('state'),
    tasks: writes.tasks !== undefined,
    decisions: writes.decisions !== undefined,
    artifacts: writes.artifacts !== undefined,
    usage: writes.usage !== undefined,
  };
  return queryTables.filter(table => changed[table]);
}
