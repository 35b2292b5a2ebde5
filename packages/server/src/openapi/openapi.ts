import { CONTRACT_VERSION, type Json } from '@signalbox/model';
import * as z from 'zod';
import { type Operation, operations, type SchemaName, wireSchemas } from './operations.ts';

type JsonObject = Readonly<Record<string, Json>>;

/** The API description (OpenAPI 3.1), built from the schemas that validate requests and answers. */
export function openApi(version: string): JsonObject {
  const paths: Record<string, Record<string, Json>> = {};
  for (const operation of operations) {
    const path = operation.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [operation.method]: operationJson(operation) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Signalbox',
      version,
      description: `Runs of plans and guided sessions: start, watch, decide and intervene. Contract version ${CONTRACT_VERSION}.`,
    },
    security: [{ token: [] }],
    paths,
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } }, schemas: componentSchemas() },
  };
}

function operationJson({ path, summary, query, key, body, answer, status = 200, isOpen }: Operation): Json {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const keyHeader = { name: 'Idempotency-Key', in: 'header', description: key ?? '', schema: { type: 'string' } };
  return {
    summary,
    ...(isOpen && { security: [] }),
    parameters: [...inPath, ...queryParameters(query), ...(key === undefined ? [] : [keyHeader])],
    ...(body !== undefined && { requestBody: { content: { 'application/json': { schema: refTo(body) } } } }),
    responses: {
      ...(answer !== undefined && { [status]: { description: 'Done', content: contentOf(answer) } }),
      default: { description: 'Refused, with the reason', content: contentOf('Error') },
    },
  };
}

function queryParameters(query: z.ZodObject | undefined): readonly JsonObject[] {
  if (query === undefined) return [];
  const { properties = {} } = z.toJSONSchema(query, { io: 'input', unrepresentable: 'any' });
  return Object.entries(properties).map(([name, schema]) => ({ name, in: 'query', schema: schema as Json }));
}

const contentOf = (answer: SchemaName | 'bytes'): JsonObject =>
  answer === 'bytes'
    ? { '*/*': { schema: { type: 'string', format: 'binary' } } }
    : { 'application/json': { schema: refTo(answer) } };

const refTo = (name: SchemaName): JsonObject => ({ $ref: `#/components/schemas/${name}` });

/** Shared schemas are defined once and referred to. */
function componentSchemas(): JsonObject {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(wireSchemas)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    io: 'input',
    unrepresentable: 'any',
    uri: id => `#/components/schemas/${id}`,
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema: _, $id: __, ...schema }]) => [id, schema as Json]),
  );
}
