import type { RuleFinding } from '../lint-finding.ts';
import type { LintedFile } from '../linted-file.ts';
import { member, nameOf, placeOf, type SyntaxNode } from '../syntax.ts';

/** What a render must not do: write state, wait for time, or reach files and the network past `ctx`. */
export function renderEffectFindings({ syntax, scopes, regionsOf }: LintedFile): readonly RuleFinding[] {
  return syntax.nodes.flatMap(node => {
    const done = node.type === 'CallExpression' ? doneBy(member(node, 'callee'), node) : undefined;
    return done === undefined || !regionsOf(node).has('render') ? [] : [{ at: placeOf(node), ...done }];
  });

  function doneBy(callee: SyntaxNode | undefined, call: SyntaxNode): Omit<RuleFinding, 'at'> | undefined {
    const written = callee === undefined ? undefined : writeOf(callee);
    if (written !== undefined) {
      return {
        rule: 'render-write',
        severity: 'error',
        message: `${written} is called in a render, which may only read.`,
        mend: 'Write in a handler or an Effect; ctx.state.init gives a first value.',
      };
    }
    const outside = callee === undefined ? undefined : outsideOf(callee, call);
    if (outside === undefined) return undefined;
    return {
      rule: 'render-io',
      severity: 'error',
      message: `${outside} is called in a render: what it does happens again with every frame, and no replay knows of it.`,
      mend: 'Do it in the run of a Task or in an Effect; ctx.fs reads files in a render.',
    };
  }

  /** A global, or what a module of the platform for files and the network exports. */
  function outsideOf(callee: SyntaxNode, call: SyntaxNode): string | undefined {
    const base = callee.type === 'MemberExpression' ? member(callee, 'object') : callee;
    const name = base?.type === 'Identifier' ? nameOf(base) : undefined;
    if (name === undefined) return undefined;
    const declaration = scopes.declarationOf(name, call);
    const code = callee === base ? `${name}()` : `${name}.${nameOf(member(callee, 'property')) ?? '…'}()`;
    if (declaration === undefined) return globals.has(name) && callee === base ? code : undefined;
    if (!/^Import(Default|Namespace)?Specifier$/.test(declaration.type)) return undefined;
    const parent = syntax.parentOf(declaration);
    const source = parent === undefined ? undefined : member(parent, 'source');
    return source !== undefined && modules.test(String(source.value)) ? code : undefined;
  }
}

const globals: ReadonlySet<string> = new Set(['fetch', 'setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask']);
const modules =
  /^(?:node:)?(?:fs|fs\/promises|child_process|net|http|https|http2|dgram|dns|tls|timers|timers\/promises)$/;
const writes: ReadonlySet<string> = new Set(['set', 'update', 'delete']);

/** `ctx.state.set`, `ctx.vol.update`. */
function writeOf(callee: SyntaxNode): string | undefined {
  if (callee.type !== 'MemberExpression' || callee.computed === true) return undefined;
  const store = member(callee, 'object');
  const method = nameOf(member(callee, 'property')) ?? '';
  if (!writes.has(method) || store?.type !== 'MemberExpression') return undefined;
  const object = nameOf(member(store, 'object'));
  const name = nameOf(member(store, 'property'));
  return object === 'ctx' && (name === 'state' || name === 'vol') ? `ctx.${name}.${method}()` : undefined;
}
