import type { DecisionOfRun } from '@signalbox/app/host';
import { type Paint, shown } from './terminal.ts';

interface Shown {
  readonly prompt?: unknown;
  readonly options?: readonly { readonly id: string; readonly label?: string }[];
  readonly schema?: unknown;
  readonly context?: unknown;
  readonly tool?: unknown;
  readonly title?: unknown;
  /** Says that the agent did not send the arguments of its call. */
  readonly missing?: unknown;
  readonly input?: unknown;
  readonly why?: unknown;
}

/** A decision of a run or guided session, as shown to people. */
interface ShownDecision {
  readonly run: string;
  /** The title of its node. */
  readonly title?: string | undefined;
  readonly decision: Pick<
    DecisionOfRun['decision'],
    'id' | 'kind' | 'status' | 'proposal' | 'resolution' | 'answeredBy'
  > & {
    readonly node: string;
  };
}

/** A decision for a person: the question and its status. */
export function describeDecision({ run, decision, title = decision.node }: ShownDecision, paint: Paint): string {
  const { id, kind, status, proposal, resolution, answeredBy } = decision;
  const asked = (
    typeof proposal === 'object' && proposal !== null && !Array.isArray(proposal) ? proposal : {}
  ) as Shown;
  const lines = [`${paint.strong(id)}  ${kind}  ${shown(title)} ${paint.faint(`of run ${run}`)}`];
  if (typeof asked.prompt === 'string') lines.push(...indented(asked.prompt));
  if (typeof asked.why === 'string' && asked.why !== '') lines.push(...indented(asked.why));
  if (typeof asked.title === 'string') lines.push(...indented(asked.title));
  if (typeof asked.missing === 'string') lines.push(...indented(asked.missing));
  else if (asked.tool !== undefined)
    lines.push(...indented(`${String(asked.tool)} ${JSON.stringify(asked.input, null, 2)}`));
  if (asked.prompt === undefined && asked.tool === undefined)
    lines.push(...indented(JSON.stringify(proposal, null, 2)));
  const diff = (asked.context as { readonly diff?: unknown } | null | undefined)?.diff;
  const context = typeof diff === 'string' ? { ...(asked.context as object), diff: undefined } : asked.context;
  if (context !== undefined) lines.push(...indented(JSON.stringify(context, null, 2)));
  if (typeof diff === 'string') lines.push(...indented(diff));
  for (const option of asked.options ?? []) {
    lines.push(
      `    --option ${shown(option.id)}${option.label === undefined ? '' : paint.faint(`  ${shown(option.label)}`)}`,
    );
  }
  if (asked.schema !== undefined) lines.push(`    --value JSON that fits ${shown(JSON.stringify(asked.schema))}`);
  if (status !== 'open') {
    const why = resolution?.rationale ? `: ${shown(resolution.rationale)}` : '';
    const what = resolution?.chosenOptionId ?? resolution?.resolutionType ?? status;
    lines.push(
      `  ${paint.good('✓')} ${shown(what)}${answeredBy === undefined ? '' : ` by ${shown(answeredBy)}`}${why}`,
    );
  }
  return lines.join('\n');
}

function indented(text: string): readonly string[] {
  return text.split('\n').map(line => `  ${shown(line)}`);
}
