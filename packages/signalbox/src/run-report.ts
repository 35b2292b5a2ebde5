import { isPlanFault, isShownEvent, type RunRecord, type StoredEvent, type ThrownPlace } from '@signalbox/app/host';
import { describeCost } from './cost.ts';
import { describeDuration } from './duration.ts';
import { type ExitCode, exitCodes } from './exit-code.ts';
import type { RunSummary } from './run-summary.ts';
import { markOf, reasonWords } from './run-tree.ts';
import { quoted, shown } from './terminal.ts';
import { describePlace, describeThrown, type PlaceStyle } from './thrown-report.ts';

/** The line for an event; undefined for events that only appear in the log. */
export function describeEvent(
  { event }: StoredEvent,
  labelOf: (node: string) => string,
  style: PlaceStyle,
): string | undefined {
  const { paint } = style;
  const at = (thrown: ThrownPlace | undefined) =>
    thrown === undefined ? '' : ` ${paint.faint('at')} ${describePlace(thrown, style)}`;
  if (!isShownEvent(event)) return undefined;
  switch (event.type) {
    case 'task.started': {
      const round = event.iteration === 0 ? '' : ` ${paint.faint(`round ${event.iteration + 1}`)}`;
      return `${markOf('running', paint)} ${shown(labelOf(event.node))}${round}`;
    }
    case 'task.ended': {
      const label = shown(labelOf(event.node));
      if (event.outcome === 'done') return `${markOf('succeeded', paint)} ${label}`;
      const why = event.error === undefined ? event.outcome : event.error.message;
      return `${markOf('failed', paint)} ${label}: ${shown(why)}${at(event.error?.thrown)}`;
    }
    case 'task.retry': {
      const label = shown(labelOf(event.node));
      return `${paint.doubtful('↻')} ${label}: ${shown(event.error.message)}${at(event.error.thrown)} ${paint.faint(`again at ${event.retryAt}`)}`;
    }
    case 'task.orphaned':
      return `${paint.doubtful('!')} ${shown(labelOf(event.node))} was cut off: ${cutOff[event.action]}`;
    case 'node.status':
      if (event.to !== 'blocked') return undefined;
      return `${markOf('blocked', paint)} ${shown(labelOf(event.node))}: ${shown(reasonWords(event.blockReason ?? 'blocked'))}`;
    case 'run.resumed': {
      if (event.changed.length === 0) return undefined;
      const version = event.planVersion === undefined ? '' : `; this is plan version ${event.planVersion}`;
      return `${paint.doubtful('!')} changed since the run was last active: ${event.changed.map(shown).join(', ')}${version}`;
    }
    case 'model.refused':
      return `${paint.doubtful('!')} ${shown(labelOf(event.node))} was refused a call of ${shown(event.model)}: ${shown(event.reason)}`;
    case 'handler.failed':
      return `${paint.bad('✗')} ${shown(labelOf(event.node))} ${event.handler}: ${shown(event.error)}${at(event.thrown)}`;
  }
}

const cutOff: Record<Extract<StoredEvent['event'], { readonly type: 'task.orphaned' }>['action'], string> = {
  retry: 'it starts again when the run resumes',
  abandon: 'it is abandoned',
  ask: 'whether it happened is unknown, so a person is asked',
};

/** The status of a run that nothing drives any more, its result, and what to do next. */
export function describeEnd(run: RunRecord, summary: RunSummary, style: PlaceStyle): string {
  const { paint } = style;
  const [title, ...details] = endOf(run, summary, style);
  return [title, `  ${paint.faint(describeSummary(summary))}`, ...details.map(line => `  ${line}`)].join('\n');
}

function endOf({ id, status, error, stopReason, output }: RunRecord, summary: RunSummary, style: PlaceStyle): string[] {
  const { paint } = style;
  const goOn = `Continue with: signalbox resume ${id}`;
  const askAgain = summary.denied.map(node => `Ask again: signalbox retry ${id} ${shown(quoted(node))}`);
  switch (status) {
    case 'completed':
      return [`${paint.good('✓ completed')} ${id}`, ...describeOutput(output)];
    case 'failed':
      return [
        `${paint.bad('✗ failed')} ${id}: ${shown(error?.message ?? 'for an unknown reason')}`,
        ...describeThrown(error?.thrown, style),
        ...(summary.doAgain === undefined && (isPlanFault(error?.code) || summary.hasUnhandled)
          ? [`Correct the plan, then: signalbox resume ${id} --use-current`]
          : []),
        ...firstOf(summary.failed, ({ node, why }) => [
          `${paint.bad('✗')} ${shown(node)}: ${shown(why)}`,
          `  Retry: signalbox retry ${id} ${shown(quoted(node))}`,
        ]),
        ...(summary.doAgain === undefined ? [] : [`Start the task again: ${shown(summary.doAgain)}`]),
        // A retry runs the stored plan: without this, a corrected file would change nothing.
        ...(summary.doAgain === undefined && summary.failed.length > 0
          ? [
              `If you corrected the plan, ${summary.failed.every(isRepaired) ? 'instead' : 'first'}: signalbox resume ${id} --use-current`,
            ]
          : []),
      ];
    case 'stopped':
      return [
        `${paint.bad('✗ stopped')} ${id}: ${shown(stopReason ?? '')}`,
        ...(isDenial(stopReason) ? askAgain : [goOn]),
      ];
    case 'stalled':
      return [
        `${paint.bad('✗ stalled')} ${id}: it kept rendering without progress`,
        `See what it did: signalbox frames ${id}`,
      ];
    case 'queued':
    case 'running':
      return [`${paint.bad('✗ cut off')} ${id}`, goOn];
    case 'paused':
      return [`${paint.doubtful('… paused')} ${id}`, goOn];
    case 'waiting':
      return [
        `${paint.doubtful('… waiting')} ${id}`,
        ...firstOf(summary.open, ({ id: decision, node, question, answer }) => [
          `${paint.doubtful('?')} ${shown(node)}: ${shown(firstLine(question))}`,
          `  Answer: signalbox approve ${shown(answer)}   or: signalbox deny ${decision}`,
        ]),
        `Details: signalbox decisions --run ${id}`,
      ];
  }
}

/** The plan did not say what follows a denial. */
function isDenial(stopReason = ''): boolean {
  return stopReason.startsWith('A person denied ');
}

function isRepaired({ isRepairable }: RunSummary['failed'][number]): boolean {
  return isRepairable;
}

/** Above this number, entries are counted instead of shown. */
const FEW = 5;

function firstOf<Item>(items: readonly Item[], lines: (item: Item) => readonly string[]): readonly string[] {
  const more = items.length - FEW;
  return [...items.slice(0, FEW).flatMap(lines), ...(more > 0 ? [`… and ${more} more`] : [])];
}

function describeSummary({ tasks, retries, tookMs, tokens, costMicroUsd }: RunSummary): string {
  return [
    `${counted(tasks, 'task')}${tookMs === undefined ? '' : ` in ${describeDuration(tookMs)}`}`,
    ...(retries === 0 ? [] : [counted(retries, 'retry', 'retries')]),
    ...(tokens === 0 ? [] : [counted(tokens, 'token')]),
    ...(costMicroUsd === 0 ? [] : [describeCost(costMicroUsd)]),
  ].join(' · ');
}

/** An output that fits on a line. */
const SMALL = 200;

function describeOutput(output: RunRecord['output']): readonly string[] {
  if (output === undefined || output === null) return [];
  const text = JSON.stringify(output);
  if (text === '{}' || text === '[]') return [];
  return text.length <= SMALL ? [`output ${shown(text)}`] : [`output of ${text.length} characters, with --json`];
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? '';
}

export function exitCodeOfEnd(status: RunRecord['status']): ExitCode {
  if (status === 'completed' || status === 'paused') return exitCodes.done;
  return status === 'waiting' ? exitCodes.waiting : exitCodes.failed;
}
