import { answers, bodies, errorEnvelope, queries, type Operation as Row, operations as table } from '@signalbox/model';
import type * as z from 'zod';

/** Wire schemas by their name in the description. */
export const wireSchemas = { ...answers, ...bodies, Error: errorEnvelope };
export type SchemaName = keyof typeof wireSchemas;

/** An operation as the description shows it. */
export interface Operation extends Pick<Row, 'summary' | 'key' | 'answer' | 'status'> {
  readonly method: string;
  readonly path: string;
  readonly query?: z.ZodObject;
  readonly body?: keyof typeof bodies;
  /** Needs no token. */
  readonly isOpen: boolean;
}

/** Every operation under `/api` but the WebSocket. */
export const operations: readonly Operation[] = Object.values<Row>(table).flatMap(({ route, needs, input, ...row }) => {
  const [method = '', path = ''] = route.split(' ');
  if (method === 'WS' || !path.startsWith('/api/')) return [];
  const given = input !== undefined && (isQuery(input) ? { query: queries[input] } : { body: input });
  return [{ ...row, ...given, method: method.toLowerCase(), path, isOpen: needs === 'no token' }];
});

function isQuery(input: keyof typeof bodies | keyof typeof queries): input is keyof typeof queries {
  return Object.hasOwn(queries, input);
}
