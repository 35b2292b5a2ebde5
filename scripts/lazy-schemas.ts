import { type ParseResult, parse } from '@babel/parser';

type Node = ParseResult['program']['body'][number] | Expression;
type Expression = Extract<ParseResult['program']['body'][number], { type: 'ExpressionStatement' }>['expression'];

/** Methods of `z` that create a schema, and methods of a schema that return another. All other code stays unchanged. */
const MAKERS =
  'object strictObject looseObject union discriminatedUnion intersection array record partialRecord tuple enum literal templateLiteral string number int boolean null unknown any never lazy custom preprocess codec';
const CHANGERS =
  'optional nullable nullish array readonly brand default prefault catch refine superRefine check transform pipe overwrite describe meta min max length int positive nonnegative gt gte lt lte multipleOf regex startsWith endsWith includes nonempty or and register';
/** These are named like nothing else of ours: they make a schema of whatever they are called on. */
const OF_SCHEMAS = 'extend safeExtend omit pick partial required strict loose strip catchall passthrough';

const makers = new Set(MAKERS.split(' '));
const ofSchemas = new Set(OF_SCHEMAS.split(' '));
const changers = new Set([...CHANGERS.split(' '), ...ofSchemas]);

/**
 * Lets the schemas at the top of a module be made when they are first used. A start makes thousands of them and uses a few. Lines
 * stay where they are. `helper` is the module with `lazySchema`.
 */
export function withLazySchemas(source: string, helper: string): string {
  if (!/^import (\* as z|\{ z \}) from ["']zod(\/v4)?["'];/m.test(source)) return source;
  const { program } = parse(source, { sourceType: 'module', plugins: ['typescript', 'jsx'] });
  const own = new Set(program.body.flatMap(statement => schemaMakers(statement)));
  const places = program.body.flatMap(statement => topSchemas(statement, own)).sort((a, b) => b.start - a.start);
  if (places.length === 0) return source;
  const changed = places.reduce(
    (text, { start, end }) =>
      `${text.slice(0, start)}/* @__PURE__ */ lazySchema(() => ${text.slice(start, end)})${text.slice(end)}`,
    source,
  );
  return `import { lazySchema } from ${JSON.stringify(helper)}; ${changed}`;
}

interface Place {
  readonly start: number;
  readonly end: number;
}

/** The module's own functions that do nothing but make a schema. */
function schemaMakers(statement: Node): readonly string[] {
  if (statement.type !== 'VariableDeclaration' || statement.kind !== 'const') return [];
  return statement.declarations.flatMap(({ id, init }) =>
    id.type === 'Identifier' &&
    init?.type === 'ArrowFunctionExpression' &&
    init.body.type !== 'BlockStatement' &&
    isSchema(init.body, NONE)
      ? [id.name]
      : [],
  );
}

const NONE: ReadonlySet<string> = new Set();

function topSchemas(statement: Node, own: ReadonlySet<string>): readonly Place[] {
  if (statement.type === 'ExportNamedDeclaration' && statement.declaration)
    return topSchemas(statement.declaration, own);
  if (statement.type !== 'VariableDeclaration' || statement.kind !== 'const') return [];
  return statement.declarations.flatMap(({ id, init }) => {
    if (id.type !== 'Identifier' || !init || !isSchema(init, own)) return [];
    return typeof init.start === 'number' && typeof init.end === 'number' ? [{ start: init.start, end: init.end }] : [];
  });
}

function isSchema(given: Expression, own: ReadonlySet<string>): boolean {
  const call = bare(given);
  if (call.type !== 'CallExpression') return false;
  const { callee } = call;
  if (callee.type === 'Identifier') return own.has(callee.name);
  if (callee.type !== 'MemberExpression' || callee.computed || callee.property.type !== 'Identifier') return false;
  const { name } = callee.property;
  if (callee.object.type === 'Identifier' && callee.object.name === 'z') return makers.has(name);
  return ofSchemas.has(name) || (changers.has(name) && beginsWithZ(callee.object));
}

/** Whether a chain of calls and members has `z` at its beginning. */
function beginsWithZ(given: Expression | { readonly type: string }): boolean {
  const link = bare(given as Expression);
  if (link.type === 'CallExpression') return beginsWithZ(link.callee);
  if (link.type === 'MemberExpression') return beginsWithZ(link.object);
  return link.type === 'Identifier' && link.name === 'z';
}

function bare(given: Expression): Expression {
  switch (given.type) {
    case 'TSAsExpression':
    case 'TSSatisfiesExpression':
    case 'TSNonNullExpression':
    case 'ParenthesizedExpression':
      return bare(given.expression);
    default:
      return given;
  }
}
