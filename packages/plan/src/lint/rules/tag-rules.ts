import { isAgentKind, isLoopKind, isRunnableKind } from '../../nodes/node-kind.ts';
import { DEFAULT_MAX_ITERATIONS } from '../../nodes/structure-kinds.ts';
import { DEFAULT_MAX_TURNS } from '../../nodes/work-kinds.ts';
import type { RuleFinding } from '../lint-finding.ts';
import type { LintedFile } from '../linted-file.ts';
import { mayHave } from '../plan-names.ts';
import { placeOf } from '../syntax.ts';

/** Attributes that a single tag lacks: an id, a bound on iterations, a bound on turns. */
export function tagFindings({ syntax, names, tagOf }: LintedFile): readonly RuleFinding[] {
  const found: RuleFinding[] = [];
  for (const opening of syntax.nodes.filter(({ type }) => type === 'JSXOpeningElement')) {
    const kind = names.kindOf(opening);
    if (kind === undefined) continue;
    const at = placeOf(opening);
    const tag = `<${tagOf(opening)}>`;
    if (isRunnableKind(kind) && !mayHave(opening, 'id')) {
      found.push({
        rule: 'runnable-needs-id',
        severity: 'warning',
        at,
        message: `${tag} has no id: it is identified by its place, and becomes another node when it moves in the plan.`,
        mend: 'Give it a stable id, such as id="build".',
      });
    }
    if (isLoopKind(kind) && !mayHave(opening, 'maxIterations')) {
      found.push({
        rule: 'loop-needs-max',
        severity: 'warning',
        at,
        message: `${tag} has no maxIterations: it ends after ${DEFAULT_MAX_ITERATIONS}, the default.`,
        mend: 'Set the most iterations it may take: maxIterations={10}.',
      });
    }
    if (isAgentKind(kind) && !mayHave(opening, 'maxTurns')) {
      found.push({
        rule: 'agent-needs-max-turns',
        severity: 'info',
        at,
        message: `${tag} has no maxTurns: it may take ${DEFAULT_MAX_TURNS} turns, the default.`,
        mend: 'Set the most turns it may take: maxTurns={10}.',
      });
    }
  }
  return found;
}
