import { didYouMean } from '@signalbox/model';
import type * as z from 'zod';
import { builtinToolNames } from '../../nodes/builtin-tools.ts';
import { isAgentKind } from '../../nodes/node-kind.ts';
import { elementEntry } from '../../nodes/node-kinds.ts';
import * as planApi from '../../plan-api.ts';
import type { RuleFinding } from '../lint-finding.ts';
import type { LintedFile } from '../linted-file.ts';
import { attributesOf, attributeValue, mayHave } from '../plan-names.ts';
import { isFunction, member, members, placeOf, type SyntaxNode } from '../syntax.ts';

/** Names that nothing has: imports, props, tools; and ids that two nodes have. */
export function unknownNameFindings(file: LintedFile): readonly RuleFinding[] {
  const { syntax, names } = file;
  const openings = syntax.nodes.filter(({ type }) => type === 'JSXOpeningElement');
  return [
    ...importFindings(file),
    ...openings.flatMap(opening => {
      const kind = names.kindOf(opening);
      if (kind === undefined) return [];
      const known = [...Object.keys((elementEntry(kind).props as z.ZodObject).shape), 'key', 'children'];
      return [...propFindings(opening, known, file), ...(isAgentKind(kind) ? toolFindings(opening) : [])];
    }),
    ...idFindings(openings, file),
  ];
}

const exported = Object.keys(planApi);

/** Values only: types are gone when the plan runs, and a wrong one is the compiler's to find. */
function importFindings({ syntax, scopes, names }: LintedFile): readonly RuleFinding[] {
  const isValue = (reference: SyntaxNode) => !/^(?:TS|Import)/.test(syntax.parentOf(reference)?.type ?? '');
  return syntax.nodes.flatMap(node => {
    const name = names.importedFromApi(node);
    if (name === undefined || exported.includes(name) || !scopes.references(node).some(isValue)) return [];
    return [
      {
        rule: 'import-unknown',
        severity: 'error',
        at: placeOf(node),
        message: `signalbox has no ${name}.${didYouMean(name, exported)}`,
        mend: 'Correct the name, or import it from where it is.',
      },
    ];
  });
}

function propFindings(opening: SyntaxNode, known: readonly string[], { tagOf }: LintedFile): readonly RuleFinding[] {
  return [...attributesOf(opening)].flatMap(([name, attribute]) =>
    known.includes(name)
      ? []
      : [
          {
            rule: 'prop-unknown',
            severity: 'error',
            at: placeOf(attribute),
            message: `<${tagOf(opening)}> has no prop ${name}.${didYouMean(name, known)}`,
            mend: 'Correct or remove it: an element with an unknown prop is refused.',
          },
        ],
  );
}

/** Only an agent of another vendor has tools that are not known here. */
function toolFindings(opening: SyntaxNode): readonly RuleFinding[] {
  const plugin = attributeValue(attributesOf(opening).get('plugin'));
  const isOurs = !mayHave(opening, 'plugin') || (plugin !== true && plugin?.value === 'builtin');
  const tools = attributeValue(attributesOf(opening).get('tools'));
  if (!isOurs || tools === undefined || tools === true || tools.type !== 'ObjectExpression') return [];
  const lists = members(tools, 'properties').flatMap(property => {
    const value = member(property, 'value');
    return value?.type === 'ArrayExpression' ? members(value, 'elements') : [];
  });
  return lists.flatMap(item => {
    const name = item.type === 'StringLiteral' ? String(item.value) : undefined;
    if (name === undefined || builtinToolNames.includes(name)) return [];
    return [
      {
        rule: 'tool-unknown',
        severity: 'error',
        at: placeOf(item),
        message: `There is no tool "${name}".${didYouMean(name, builtinToolNames)}`,
        mend: `The tools are ${builtinToolNames.join(', ')}.`,
      },
    ];
  });
}

/** Two elements that one call of the author's code makes; the arms of a choice make one of them. */
function idFindings(openings: readonly SyntaxNode[], file: LintedFile): readonly RuleFinding[] {
  const known = new Map<string, SyntaxNode[]>();
  return openings.flatMap(opening => {
    const value = attributeValue(attributesOf(opening).get('id'));
    if (file.names.kindOf(opening) === undefined || value === undefined || value === true) return [];
    if (value.type !== 'StringLiteral') return [];
    const id = String(value.value);
    const others = known.get(id) ?? [];
    const twin = others.find(other => areMadeTogether(other, opening, file));
    known.set(id, [...others, opening]);
    if (twin === undefined) return [];
    return [
      {
        rule: 'id-duplicate',
        severity: 'error',
        at: placeOf(value),
        message: `The id "${id}" is that of the <${file.tagOf(twin)}> on line ${placeOf(twin).line}, too.`,
        mend: 'Give each node an id of its own.',
      },
    ];
  });
}

function areMadeTogether(a: SyntaxNode, b: SyntaxNode, { syntax }: LintedFile): boolean {
  const around = new Map<SyntaxNode, SyntaxNode>();
  for (let at: SyntaxNode | undefined = a, below = a; at !== undefined; below = at, at = syntax.parentOf(at))
    around.set(at, below);
  for (let at: SyntaxNode | undefined = b, below = b; at !== undefined; below = at, at = syntax.parentOf(at)) {
    const other = around.get(at);
    // A function between them may be called for one only.
    if (other !== undefined) return !isChoice(at) || below === other;
    if (isFunction(at)) return false;
  }
  return false;
}

function isChoice({ type }: SyntaxNode): boolean {
  return (
    type === 'ConditionalExpression' ||
    type === 'IfStatement' ||
    type === 'SwitchStatement' ||
    type === 'BlockStatement'
  );
}
