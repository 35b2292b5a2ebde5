import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '../local-program.ts';

/**
 * `docs/reference/plan-api.md`: what a plan can import from `signalbox`, as its types say. The declarations are taken from the sources, with
 * their comments and without bodies; types that they need but that cannot be imported follow at the end.
 */
export function planApiReference(): string {
  const files = sources(path.join(repositoryRoot, 'packages/plan/src'));
  const index = readFileSync(path.join(repositoryRoot, 'packages/signalbox/src/index.ts'), 'utf8');
  const [, list = ''] = /export \{([^}]*)\} from '@signalbox\/plan';/.exec(index) ?? [];
  const names = [...list.matchAll(/(?:type )?(\w+)/g)].map(([, name = '']) => name).filter(name => name !== 'type');
  const known = new Map(files.flatMap(declarationsIn).map(each => [each.name, each]));
  const wanted = names.map(name => {
    const found = known.get(name);
    if (found === undefined) throw new Error(`scripts/reference finds no declaration of ${name}`);
    return found;
  });
  const components = wanted.filter(({ kind, name }) => kind === 'const' && /^[A-Z]/.test(name));
  const functions = wanted.filter(
    each => !components.includes(each) && each.kind !== 'interface' && each.kind !== 'type',
  );
  const types = wanted.filter(({ kind }) => kind === 'interface' || kind === 'type');
  return `${[
    '# The plan API',
    '<!-- Generated from packages/plan by scripts/reference/plan-api-reference.ts; edits are lost. -->',
    `Everything that a plan can import from \`signalbox\`. [Writing plans](../writing-plans.md) shows how it fits together; \`verifyReplay\` for tests is shown in
[replays in tests](../../examples/07-replay-in-a-test/README.md).`,
    section('Components', components),
    section('Functions and classes', functions),
    section('Types', types),
    section('Types that these use', helpersOf(wanted, known)),
  ].join('\n\n')}\n`;
}

interface Declaration {
  readonly name: string;
  readonly kind: string;
  readonly comment: string;
  readonly text: string;
}

function sources(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(({ name }) => /\.tsx?$/.test(name) && !name.includes('.test.'))
    .map(({ parentPath, name }) => path.join(parentPath, name))
    .sort()
    .map(file => readFileSync(file, 'utf8'));
}

const DECLARATION =
  /^((?:\/\*\*(?:[^*]|\*(?!\/))*\*\/\n)?)((?:export )?(?:abstract )?(interface|type|const|function|class) (\w+)\b)/gm;

function declarationsIn(source: string): readonly Declaration[] {
  return [...source.matchAll(DECLARATION)].map(match => {
    const [, comment = '', , kind = '', name = ''] = match;
    const begin = match.index + comment.length;
    return { name, kind, comment: plain(comment), text: declared(kind, source.slice(begin, endOf(source, begin))) };
  });
}

/** Where a declaration ends: formatted sources have its last line at the margin. */
function endOf(source: string, begin: number): number {
  const lines = source.slice(begin).split('\n');
  let length = 0;
  for (const [index, line] of lines.entries()) {
    length += line.length + 1;
    const next = lines[index + 1];
    if (next === undefined || next === '' || /^(export |\/\*\*|const |function |interface |type |class )/.test(next)) {
      if (!/^[ )}&|]/.test(lines[index + 2] ?? '') || next !== '') return begin + length;
    }
  }
  return source.length;
}

/** Without values and bodies: what a caller sees. */
function declared(kind: string, text: string): string {
  const body = text.replace(/^export /, '').trimEnd();
  if (kind === 'const') return body.replace(/\s=\s(?:\w+\(|Symbol|\{)[\s\S]*$/, ';');
  if (kind === 'function') return body.replace(/ \{\n[\s\S]*$/, ';');
  if (kind === 'class') return body.replace(/^( {2}constructor\([\s\S]*?\)) \{\n[\s\S]*?^ {2}\}$/gm, '$1;');
  return body;
}

function plain(comment: string): string {
  return comment
    .replace(/^\/\*\*\s?|\s*\*\/\s*$/g, '')
    .split('\n')
    .map(line => line.replace(/^\s*\* ?/, '').trim())
    .join(' ')
    .trim();
}

/** Types whose parts are not for authors. */
const OPAQUE = ['PlanDefinition', 'PlanElement'];

/** Declarations that the wanted ones name, and those that these name. */
function helpersOf(wanted: readonly Declaration[], known: ReadonlyMap<string, Declaration>): readonly Declaration[] {
  const given = new Set(wanted.map(({ name }) => name));
  const named = (from: readonly Declaration[]) =>
    from
      .filter(({ name }) => !OPAQUE.includes(name))
      .flatMap(({ text }) => [...text.replace(/\/\*\*[\s\S]*?\*\//g, '').matchAll(/\b[A-Z]\w+\b/g)])
      .flatMap(([name]) => known.get(name) ?? [])
      .filter(({ name, kind }) => !given.has(name) && kind !== 'const' && kind !== 'function');
  const first = named(wanted);
  return [...new Map([...first, ...named(first)].map(each => [each.name, each])).values()].sort((a, b) =>
    a.name < b.name ? -1 : 1,
  );
}

function section(title: string, declarations: readonly Declaration[]): string {
  const parts = declarations.map(({ name, comment, text }) =>
    [
      `### ${name}`,
      ...(comment === '' ? [] : [comment]),
      ...(/[:(={]/.test(text) ? [['```ts', text, '```'].join('\n')] : []),
    ].join('\n\n'),
  );
  return [`## ${title}`, ...parts].join('\n\n');
}
