import { TRUNCATION_MARKER, truncateUtf8, utf8Length } from '@signalbox/model';
import { promptBudgets } from './prompt-budgets.ts';

/** Notes of one completed step instance. */
export interface StepNotes {
  /** The key of the step instance. */
  readonly key: string;
  readonly title: string;
  readonly notes: string;
  /** What the step handed in besides its notes, as text. */
  readonly artifacts?: readonly string[] | undefined;
}

/** What an agent that lost the conversation sees in addition to its step. */
export interface Recovery {
  /** The path to this place, oldest first. */
  readonly earlier: readonly StepNotes[];
  /** Only if this place is not the tip: what followed on the preferred branch, oldest first. */
  readonly downstream?: readonly StepNotes[] | undefined;
  /** Only if this place is not the tip: the other branches that begin here, each with its newest notes. */
  readonly branches?: readonly { readonly label: string; readonly notes: string }[] | undefined;
}

/** The sections of a recovery, each within its budget; undefined if there are none. */
export function recoveryText({ earlier, downstream = [], branches = [] }: Recovery): string | undefined {
  const sections = [
    section('RECAP OF EARLIER STEPS:', earlier, promptBudgets.recap - utf8Length(THE_REST) - 2, 'earlier'),
    section('AFTER THIS PLACE, ON THE PREFERRED BRANCH:', downstream, promptBudgets.downstream, 'earlier'),
    branchSection(branches),
  ].filter(text => text !== undefined);
  if (sections.length === 0) return undefined;
  const text = sections.join('\n\n');
  const isCut = text.includes(TRUNCATION_MARKER) || text.includes(LEFT_OUT);
  return isCut ? `${text}\n\n${THE_REST}` : text;
}

const LEFT_OUT = ' left out.]';
const THE_REST =
  '[To read an output whole: continue_workflow with intent "rehydrate", the stateToken, and its id from "outputs" in outputIds.]';

/** The newest notes that fit, in written order. */
function section(header: string, all: readonly StepNotes[], budget: number, what: string): string | undefined {
  if (all.length === 0) return undefined;
  const text = ({ key, title, notes, artifacts = [] }: StepNotes) =>
    [
      `### ${oneLine(title)} (${key})`,
      ...(notes.trim() === '' ? [] : [notes.trim().toWellFormed()]),
      ...artifacts.map(artifact => truncateUtf8(`Artifact: ${artifact.toWellFormed()}`, promptBudgets.artifact)),
    ].join('\n');
  return fitting(header, all.toReversed(), text, budget, what);
}

function branchSection(branches: NonNullable<Recovery['branches']>): string | undefined {
  if (branches.length === 0) return undefined;
  const text = ({ label, notes }: (typeof branches)[number]) =>
    truncateUtf8(`### Branch ${oneLine(label)}\n${notes.trim().toWellFormed()}`, promptBudgets.branch);
  return fitting('OTHER BRANCHES FROM HERE:', branches, text, promptBudgets.branches, 'other', false);
}

/** Takes texts in order of weight until the budget is full. The first one that no longer fits is cut, not dropped. */
function fitting<T>(
  header: string,
  byWeight: readonly T[],
  textOf: (told: T) => string,
  budget: number,
  what: string,
  reversed = true,
): string {
  let room = budget - utf8Length(header) - NOTE_ROOM;
  const kept: string[] = [];
  for (const told of byWeight) {
    const text = textOf(told);
    const bytes = utf8Length(text) + 2;
    if (bytes > room) {
      if (room > LEAST) kept.push(truncateUtf8(text, room - 2));
      break;
    }
    kept.push(text);
    room -= bytes;
  }
  const omitted = byWeight.length - kept.length;
  const note = omitted === 0 ? [] : [`[${omitted} ${what}${LEFT_OUT}`];
  return [header, ...(reversed ? [...note, ...kept.toReversed()] : [...kept, ...note])].join('\n\n');
}

/** Room for the note on omitted texts. */
const NOTE_ROOM = 48;

/** Shorter excerpts of a note are useless. */
const LEAST = 256;

const oneLine = (text: string) => truncateUtf8(text.replaceAll(/\s+/g, ' ').toWellFormed(), 160);
