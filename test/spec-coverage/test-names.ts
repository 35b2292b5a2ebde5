import { type ESTree, parseSync, Visitor } from 'vite';
import type { SourceFile } from '../source-file.ts';

/** The literal text of the name that a test or a group of tests has, and whether it is run at all. */
export interface TestName {
  readonly text: string;
  readonly runs: boolean;
  readonly line: number;
}

const TEST_FUNCTIONS = new Set(['test', 'it', 'describe', 'suite']);
const NOT_RUN = new Set(['skip', 'todo']);

/** The names in a file, for every form: `it('…')`, `it.each(cases)('…')`, `describe.skip('…')`. */
export function testNamesOf(file: SourceFile): readonly TestName[] {
  const { program, errors } = parseSync(file.path, file.source);
  const error = errors[0];
  if (error !== undefined) throw new Error(`${file.path} does not parse: ${error.message}`);
  const names: TestName[] = [];
  new Visitor({
    CallExpression: node => {
      const [root, ...members] = wordsOf(node.callee);
      const name = node.arguments[0];
      if (root === undefined || name === undefined || !TEST_FUNCTIONS.has(root)) return;
      names.push({
        text: textOf(name),
        runs: !members.some(member => NOT_RUN.has(member)),
        line: file.source.slice(0, node.start).split('\n').length,
      });
    },
  }).visit(program);
  return names.filter(name => name.text !== '');
}

/** `it.each(cases)` as its words: it, each. */
function wordsOf(callee: ESTree.Node): readonly string[] {
  switch (callee.type) {
    case 'Identifier':
      return [callee.name];
    case 'MemberExpression':
      return callee.property.type === 'Identifier' ? [...wordsOf(callee.object), callee.property.name] : [];
    case 'CallExpression':
      return wordsOf(callee.callee);
    case 'TaggedTemplateExpression':
      return wordsOf(callee.tag);
    default:
      return [];
  }
}

/** The parts of a name that are written out; what is computed is left out. */
function textOf(name: ESTree.Node): string {
  switch (name.type) {
    case 'Literal':
      return typeof name.value === 'string' ? name.value : '';
    case 'TemplateLiteral':
      return name.quasis.map(quasi => quasi.value.cooked ?? '').join('…');
    case 'BinaryExpression':
      return `${textOf(name.left)}…${textOf(name.right)}`;
    default:
      return '';
  }
}
