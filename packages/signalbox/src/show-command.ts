import { usageError } from '@signalbox/app';
import {
  type ErrorEnvelope,
  findRun,
  lineageOf,
  planVersionOf,
  type Reader,
  treeAt,
  treeToXml,
} from '@signalbox/app/runs';
import type { DefineCommand } from './command.ts';
import { DATA_DIR_OPTION, type DataFlags } from './data-directory-option.ts';
import { exitCodes } from './exit-code.ts';
import { describeLineage } from './forks/lineage-report.ts';
import { showIfSession } from './guided/show-session.ts';
import { describeRun } from './look.ts';
import { describeTree } from './run-tree.ts';
import { paintOf, shown, type Terminal } from './terminal.ts';
import { withReader } from './with-reader.ts';

interface ShowFlags extends DataFlags {
  readonly frame?: string;
  readonly xml?: boolean;
}

export const defineShow: DefineCommand = (command, { terminal, end }) => {
  command
    .description(
      'Shows a run: its status, and its plan as it is now or as it was in an earlier frame. Or a guided session: its runs as trees of ' +
        'places, what waits, and what was noted.',
    )
    .option('--frame <n>', 'the plan as it was in this frame')
    .option('--xml', 'print the plan as XML')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print the run and its plan as JSON')
    .addHelpText('after', '\nExample:\n  $ signalbox show 019b8d62 --frame 3     the beginning of an id is enough')
    .action(async (given: string, flags: ShowFlags) => {
      const session = await showIfSession(given, flags, terminal);
      end(session ?? (await withReader(terminal, flags, reader => show(reader, given, flags, terminal))));
    });
};

async function show(
  reader: Reader,
  given: string,
  { frame, xml = false, json = false }: ShowFlags,
  terminal: Terminal,
): Promise<0 | ErrorEnvelope> {
  const found = await findRun(reader, given);
  if (!found.ok) return found.error;
  const run = found.value;
  const last = run.frames - 1;
  if (frame !== undefined && !(/^\d+$/.test(frame) && Number(frame) <= last)) {
    return usageError(`Run ${run.id} has no frame ${frame}.`, `Its frames are 0 to ${last}.`);
  }
  if (frame !== undefined && run.collected?.some(({ from, to }) => Number(frame) >= from && Number(frame) <= to)) {
    return usageError(
      `Frame ${frame} of run ${run.id} was collected.`,
      `See "signalbox frames ${run.id}" for those that are left.`,
    );
  }
  // What came after the last frame is shown too, unless a frame was asked for.
  const tree =
    run.frames === 0 ? undefined : await treeAt(reader, run.id, frame === undefined ? run.frames : Number(frame));
  const lineage = await lineageOf(reader, run);
  const then = frame === undefined ? undefined : await reader.frame(run.id, Number(frame));
  const planVersion = then === undefined ? planVersionOf(run) : (then.planVersion ?? 1);
  if (json) terminal.print(JSON.stringify({ run, planVersion, tree: tree ?? null, lineage }));
  else if (xml) terminal.print(tree === undefined ? '' : treeToXml(tree));
  else {
    terminal.print(describeRun(run));
    if (planVersionOf(run) > 1) terminal.print(`  plan version ${planVersion} of ${planVersionOf(run)}`);
    for (const line of describeLineage(lineage)) terminal.print(line);
    if (run.error !== undefined) terminal.print(`  ${shown(run.error.message)}`);
    if (tree !== undefined) terminal.print(describeTree(tree, paintOf(terminal)).join('\n'));
  }
  return exitCodes.done;
}
