import type { Json } from '@signalbox/model';
import type { AgentQuestion, Resolution } from '@signalbox/runs';
import { type HeldChanges, type HeldChoice, heldChoice } from '@signalbox/state';

const SHOWN = 50;

/** What a person is asked about changes of a call that met somebody else's. Asked anew for every round. */
export function heldQuestion(call: string, held: HeldChanges): AgentQuestion {
  const paths = [...new Set(held.conflicts.map(({ path }) => path))].map(path => path.toWellFormed());
  const named = paths.slice(0, 3).join(', ') + (paths.length > 3 ? ` and ${paths.length - 3} more` : '');
  const conflicts = held.conflicts.slice(0, SHOWN).map(
    ({ path, theirs, yours, layers }): Json => ({
      path: path.toWellFormed(),
      // A file that is newer than the command may be new, too: nothing that is left tells the two apart.
      theirs: theirs === 'changed' && yours !== null ? 'created or changed' : theirs,
      yours: versionOf(yours),
      command: versionOf(layers),
    }),
  );
  const options: readonly { readonly id: HeldChoice; readonly label: string }[] = [
    { id: 'apply-rest', label: 'Apply everything else' },
    { id: 'apply-all', label: "Use the command's versions" },
    { id: 'drop', label: 'Drop all of its changes' },
  ];
  return {
    call: `${call}:changes:${held.round}`,
    kind: 'choice',
    proposal: {
      prompt: `${held.round === 0 ? '' : 'The files changed again after your answer, so it was not carried out. '}A command's changes conflict with what someone else did to ${named}. Nothing was applied. What should become of the command's changes?`,
      options: options.map(option => ({ ...option })),
      context: { directory: held.root, changes: held.changes.length, conflicts, total: held.conflicts.length },
    },
  };
}

function versionOf(version: HeldChanges['conflicts'][number]['yours']): Json {
  if (version === null) return null;
  const { digest, size } = version;
  return { ...(digest !== undefined && { digest }), ...(size !== undefined && { size }) };
}

/** What does not clearly say otherwise drops them. */
export function heldChoiceOf({ resolutionType, chosenOptionId }: Resolution): HeldChoice {
  const chosen = heldChoice.safeParse(chosenOptionId);
  return resolutionType === 'choose_option' && chosen.success ? chosen.data : 'drop';
}
