import { usageError } from '@signalbox/app';
import { findListedRun, LAST } from '@signalbox/app/all-runs';
import {
  agentsOfRun,
  type ErrorEnvelope,
  findRun,
  isInterrupted,
  lineageOf,
  planVersionOf,
  type Reader,
  type RunRecord,
  timerWait,
  treeAt,
  treeToXml,
} from '@signalbox/app/host';
import type { DefineCommand } from './command.ts';
import { askedDataDirectory, DATA_DIR_OPTION, type DataFlags } from './data-directory-option.ts';
import { exitCodes } from './exit-code.ts';
import { describeLineage } from './forks/lineage-report.ts';
import { showIfGuidedRun, showIfSession } from './guided/show-session.ts';
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
      'Shows a run: its status, and its plan now or in an earlier frame. Or a guided session, by its id or by that of one of its ' +
        'runs: its runs as trees of places, open questions and notes.',
    )
    .option('--frame <n>', 'the plan in this frame')
    .option('--xml', 'print the plan as XML')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print the run and its plan as JSON')
    .addHelpText('after', '\nExample:\n  $ signalbox show 019b8d62 --frame 3     an id prefix is enough')
    .action(async (named: string | undefined, flags: ShowFlags) => {
      const given = named ?? LAST;
      const session = await showIfSession(given, flags, terminal);
      if (session !== undefined) return end(session);
      const guided = () => showIfGuidedRun(given, flags, terminal);
      const look = async (reader: Reader) => {
        if (given === LAST) {
          const newest = await findListedRun(reader, askedDataDirectory(flags.dataDir), given);
          if (newest.ok && newest.value.guided !== undefined)
            return (await showIfGuidedRun(newest.value.id, flags, terminal)) ?? exitCodes.done;
        }
        const run = await findRun(reader, given);
        return run.ok ? show(reader, run.value, flags, terminal) : ((await guided()) ?? run.error);
      };
      end(await withReader(terminal, flags, look, async missing => (await guided()) ?? missing));
    });
};

async function show(
  reader: Reader,
  run: RunRecord,
  { frame, xml = false, json = false }: ShowFlags,
  terminal: Terminal,
): Promise<0 | ErrorEnvelope> {
  const last = run.frames - 1;
  if (frame !== undefined && !(/^\d+$/.test(frame) && Number(frame) <= last)) {
    return usageError(`Run ${run.id} has no frame ${frame}.`, `It has frames 0 to ${last}.`);
  }
  if (frame !== undefined && run.collected?.some(({ from, to }) => Number(frame) >= from && Number(frame) <= to)) {
    return usageError(
      `Frame ${frame} of run ${run.id} was collected.`,
      `List the remaining frames with "signalbox frames ${run.id}".`,
    );
  }
  // Includes changes after the last frame, unless a frame was given.
  const open = frame === undefined ? await reader.decisions({ run: run.id, status: ['open'] }) : [];
  const tree =
    run.frames === 0 ? undefined : await treeAt(reader, run.id, frame === undefined ? run.frames : Number(frame), open);
  const lineage = await lineageOf(reader, run);
  const then = frame === undefined ? undefined : await reader.frame(run.id, Number(frame));
  const planVersion = then === undefined ? planVersionOf(run) : (then.planVersion ?? 1);
  const until = await timerWait(reader, run);
  const agents = await agentsOfRun(reader, run.id);
  if (json)
    terminal.print(
      JSON.stringify({
        ...{ run, until, planVersion, tree: tree ?? null, lineage, agents: Object.fromEntries(agents) },
        ...(isInterrupted(run) && { interrupted: true }),
      }),
    );
  else if (xml) terminal.print(tree === undefined ? '' : treeToXml(tree));
  else {
    terminal.print(describeRun(run, until, open.length));
    if (planVersionOf(run) > 1) terminal.print(`  plan version ${planVersion} of ${planVersionOf(run)}`);
    for (const line of describeLineage(lineage)) terminal.print(line);
    if (run.error !== undefined) terminal.print(`  ${shown(run.error.message)}`);
    if (tree !== undefined)
      terminal.print(describeTree(tree, paintOf(terminal), ({ id }) => agents.get(id)?.words).join('\n'));
  }
  return exitCodes.done;
}
