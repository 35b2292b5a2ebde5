import { defined, type Json, type Resolution } from '@signalbox/model';
import type { AgentQuestion } from '@signalbox/runs';
import { type HeldChanges, type HeldChoice, heldChoice, isRootMoved, programWords } from '@signalbox/state';
import type { TurnCheck } from './turn-check.ts';

const SHOWN = 50;

/** The question to a person about a call's changes that conflict with somebody else's. Asked again for every round. */
export function heldQuestion(call: string, held: HeldChanges): AgentQuestion {
  // A path may conflict with several changes. That a program has it open matters most: it will be written to again.
  const told = held.conflicts.toSorted((a, b) => Number(a.theirs === 'open') - Number(b.theirs === 'open'));
  const each = [...new Map(told.map(one => [one.path, one])).values()];
  const conflicts = each.slice(0, SHOWN).map(
    ({ path, theirs, by = [], yours, layers }): Json => ({
      path: shownPath(path),
      // A file newer than the command may also be new: nothing left distinguishes the two.
      theirs:
        theirs === 'changed' && yours !== null
          ? 'created or changed'
          : theirs === 'open'
            ? `open for writing in ${usersOf(by)}`
            : theirs,
      yours: versionOf(yours),
      command: versionOf(layers),
    }),
  );
  const [maker, owner] = held.call.tool === 'agent_turn' ? ['An agent', 'the agent'] : ['A command', 'the command'];
  const options: readonly { readonly id: HeldChoice; readonly label: string }[] = [
    { id: 'apply-rest', label: 'Apply everything else' },
    { id: 'apply-all', label: `Use ${owner}'s versions` },
    { id: 'drop', label: 'Drop all of its changes' },
  ];
  return {
    call: `${call}:changes:${held.round}`,
    kind: 'choice',
    proposal: {
      prompt: `${whyAgain(held, owner)}${conflictWords(each, maker)}${programWarning(held)} Nothing was applied. What should become of ${owner}'s changes?`,
      options: options.map(option => ({ ...option })),
      context: {
        directory: held.root,
        changes: held.changes.length,
        conflicts,
        total: each.length,
        ...programContext(held),
      },
    },
  };
}

function conflictWords(conflicts: HeldChanges['conflicts'], maker: string): string {
  const open = conflicts.filter(({ theirs }) => theirs === 'open');
  const mounted = conflicts.filter(({ theirs }) => theirs === 'mounted');
  const others = conflicts.filter(({ theirs }) => theirs !== 'open' && theirs !== 'mounted');
  const met = [
    ...(others.length === 0 ? [] : [`${maker}'s changes conflict with what someone else did to ${namedOf(others)}.`]),
    ...(mounted.length === 0
      ? []
      : [
          `${maker} changed ${namedOf(mounted)} on another file system that is mounted inside the directory: changes there cannot be applied.`,
        ]),
  ].join(' ');
  if (open.length === 0) return met;
  const users = usersOf(open.flatMap(({ by = [] }) => by));
  const named = namedOf(open);
  const first = met === '' ? `${maker} changed ${named}, which` : `${met} It also changed ${named}, which`;
  return `${first} ${users} ${users.includes(' and ') ? 'have' : 'has'} open for writing: once replaced, what is written there is lost. Close the program before you use the new version.`;
}

function usersOf(by: readonly { readonly program: string; readonly pid: number }[]): string {
  const words = [...new Set(by.map(({ program, pid }) => `${program} (pid ${pid})`))];
  return words.slice(0, 3).join(' and ') || 'a program';
}

/** The question to a person about changes that nobody else's conflict with: they are shown before they are applied. */
export function reviewQuestion(
  call: string,
  held: HeldChanges,
  of: {
    readonly title: string;
    readonly diff: string;
    readonly check?: TurnCheck;
    /** Sentences about others that change the same paths. */
    readonly overlaps?: readonly string[];
  },
): AgentQuestion {
  const options: readonly { readonly id: HeldChoice; readonly label: string }[] = [
    { id: 'apply-all', label: 'Apply' },
    { id: 'drop', label: 'Drop' },
  ];
  const paths = [...new Set(held.changes.map(({ path }) => shownPath(path)))];
  const what = paths.length === 1 ? '1 change' : `${paths.length} changes`;
  const checked = of.check === undefined ? '' : ` Its check ${of.check.says}.`;
  const overlaps = (of.overlaps ?? []).map(words => ` ${words}`).join('');
  return {
    // The same id: files that change before it is answered make another proposal of the same question.
    call: `${call}:changes:${held.round}`,
    kind: 'choice',
    proposal: {
      prompt: `${of.title} is done.${notApplied(held)}${checked}${programWarning(held)}${overlaps} Apply its ${what}?`,
      options: options.map(option => ({ ...option })),
      context: {
        directory: held.root,
        paths: paths.slice(0, SHOWN),
        total: paths.length,
        ...(of.check && { check: of.check }),
        ...programContext(held),
        diff: of.diff,
      },
    },
  };
}

function notApplied({ failed }: HeldChanges): string {
  return failed === undefined ? '' : ` Its changes could not be applied: ${failed.replace(/\.$/, '')}.`;
}

/** What git would run because of held changes, as a sentence; empty if nothing. */
function programWarning({ programs = [] }: HeldChanges): string {
  return programs.length === 0 ? '' : ` It changed ${programWords(programs)}.`;
}

function programContext({ programs = [] }: HeldChanges): { readonly programs?: Json } {
  if (programs.length === 0) return {};
  return {
    programs: programs.slice(0, SHOWN).map(({ path, says }) => ({ path: shownPath(path), says: says.toWellFormed() })),
  };
}

/** Why the last answer was not carried out. */
function whyAgain({ round, root, conflicts }: HeldChanges, owner: string): string {
  if (round === 0) return '';
  if (conflicts.some(isRootMoved)) {
    return `${root} is not the directory that ${owner} worked in, so your answer was not carried out. Move that directory back to its place, then answer again. `;
  }
  if (conflicts.some(({ theirs }) => theirs === 'mounted'))
    return 'Changes on another file system cannot be applied, so your answer was not carried out. Apply the rest, or drop them. ';
  const open = conflicts.filter(({ theirs }) => theirs === 'in-use');
  if (open.length > 0) {
    return `A program has ${namedOf(open)} open and would lose what it writes later, so your answer was not carried out. Close the program to replace the database, or apply the rest. `;
  }
  return 'The files changed again after your answer, so it was not carried out. ';
}

function namedOf(conflicts: HeldChanges['conflicts']): string {
  const paths = [...new Set(conflicts.map(({ path }) => shownPath(path)))];
  return paths.slice(0, 3).join(', ') + (paths.length > 3 ? ` and ${paths.length - 3} more` : '');
}

function shownPath(path: string): string {
  return path === '' ? 'the directory itself' : path.toWellFormed();
}

function versionOf(version: HeldChanges['conflicts'][number]['yours']): Json {
  if (version === null) return null;
  return { ...defined(version) };
}

/** Anything that does not clearly say otherwise drops them. */
export function heldChoiceOf({ resolutionType, chosenOptionId }: Resolution): HeldChoice {
  const chosen = heldChoice.safeParse(chosenOptionId);
  return resolutionType === 'choose_option' && chosen.success ? chosen.data : 'drop';
}
