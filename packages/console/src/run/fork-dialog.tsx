import type { Answer } from '@signalbox/client';
import type { Json, RunId, RunSummary } from '@signalbox/model';
import { Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useClient } from '../server/client-context.ts';
import { readPages } from '../server/read-pages.ts';
import { useRead } from '../server/use-read.ts';
import { useSettings } from '../settings/settings.ts';
import { Dialog } from '../shell/dialog.tsx';
import { FormFoot } from '../shell/form-foot.tsx';
import { JsonField, readJson } from '../shell/json-field.tsx';
import { useCommand } from '../shell/use-command.ts';
import { DoneOutside } from './done-outside.tsx';
import type { StateEdits } from './fork-edits.ts';
import { ForkState } from './fork-state.tsx';

/** The reason that the log keeps for a changed key. */
const EDITED = 'changed when the run was forked';

/** The options of a fork. */
interface ForkOptions {
  readonly name?: string;
  readonly input?: Json;
  readonly nodeInput?: Json;
  readonly confirmed?: true;
  readonly paused?: true;
  readonly acceptEffects?: true;
}

interface ForkDialogProps {
  readonly run: RunId;
  readonly title: string;
  /** The frame that it begins with, if it is known: its state can be changed. */
  readonly frame?: number;
  /** The node that it begins with: its input can be changed. */
  readonly node?: string;
  fork(options: ForkOptions): Answer<RunSummary>;
  onClose(): void;
}

/** Forks a new run. The original run does not change. */
export function ForkDialog({ run, title, frame, node, fork, onClose }: ForkDialogProps) {
  const client = useClient();
  const navigate = useNavigate();
  const { dangerous } = useSettings();
  const { isBusy, error, send } = useCommand();
  const { data } = useRead(['input', run], () => client.run(run));
  // Read each time that the dialog opens.
  const [opened] = useState(() => crypto.randomUUID());
  const { data: pages = [] } = useRead(['undone', run, opened], () =>
    readPages(page => client.checkpoints(run, { limit: 1000, ...page })),
  );
  const undone = pages
    .flatMap(page => page.checkpoints)
    .filter(one => one.undone && one.changesFiles)
    .map(one => one.call);
  const [name, setName] = useState('');
  const [typed, setTyped] = useState<string>();
  const [edits, setEdits] = useState<StateEdits | undefined>({});
  const isEdited = edits !== undefined && Object.keys(edits).length > 0;
  const [isPaused, setIsPaused] = useState(false);
  const [isAccepted, setIsAccepted] = useState(false);
  const [unfinished, setUnfinished] = useState<RunId>();
  const before = data === undefined ? '' : JSON.stringify(data.input, null, 2);
  const text = typed ?? before;
  const input = readJson(text);
  const isChanged =
    data !== undefined && input.ok && JSON.stringify(input.value ?? null) !== JSON.stringify(data.input);
  const ofNode = useNodeInput(run, dangerous === 'ask' ? node : undefined);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!input.ok || !ofNode.isValid || edits === undefined) return;
    let made: RunId | undefined;
    const isDone = await send(async () => {
      const forked = await fork({
        ...(name !== '' && { name }),
        ...(isChanged && { input: input.value ?? null, confirmed: true }),
        ...(ofNode.changed !== undefined && { nodeInput: ofNode.changed, confirmed: true }),
        ...((isPaused || isEdited) && { paused: true }),
        ...(isAccepted && { acceptEffects: true }),
      });
      if (!forked.ok) return forked;
      const { id } = forked.value;
      made = id;
      for (const [key, value] of Object.entries(edits)) {
        const edited = await client.edit(id, { key, value, reason: EDITED });
        if (!edited.ok) return edited;
      }
      return isEdited && !isPaused ? client.resume(id) : forked;
    });
    // An edit may be refused: the fork is there, and paused.
    if (made === undefined) return;
    if (!isDone) setUnfinished(made);
    if (!isDone) return;
    onClose();
    void navigate({ to: '/runs/$run', params: { run: made }, search: {} });
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit} className="form">
        <p className="text-muted">A new run begins there. This one does not change.</p>
        <label>
          Run name (optional)
          <input maxLength={256} value={name} onChange={event => setName(event.target.value)} />
        </label>
        {ofNode.text !== undefined && (
          <JsonField label="Input of the node (JSON)" rows={5} text={ofNode.text} onText={ofNode.onText} />
        )}
        {dangerous === 'ask' && <JsonField label="Input (JSON)" rows={5} text={text} onText={setTyped} />}
        {dangerous === 'ask' && frame !== undefined && <ForkState run={run} frame={frame} onEdits={setEdits} />}
        {(isChanged || ofNode.changed !== undefined) && (
          <p className="risk">The new run continues with an input that its earlier work did not use.</p>
        )}
        <label className="check">
          <input type="checkbox" checked={isPaused} onChange={event => setIsPaused(event.target.checked)} />
          Start paused
        </label>
        <label className="check">
          <input type="checkbox" checked={isAccepted} onChange={event => setIsAccepted(event.target.checked)} />
          Continue despite effects outside that cannot be undone
        </label>
        <DoneOutside run={run} frame={frame} />
        {unfinished !== undefined && (
          <p role="status">
            The fork was created and is paused, but not every change was accepted.{' '}
            <Link to="/runs/$run" params={{ run: unfinished }} search={{}}>
              Open the fork
            </Link>
          </p>
        )}
        {undone.length > 0 && (
          <p className="risk">
            Its files will be without the changes of calls that were undone, though its agents remember them as done:{' '}
            {undone.join(', ')}
          </p>
        )}
        <FormFoot
          error={error}
          label="Fork"
          isDisabled={isBusy || !input.ok || !ofNode.isValid || edits === undefined || unfinished !== undefined}
          onClose={onClose}
        />
      </form>
    </Dialog>
  );
}

/** What can be changed of the input of a node, as a person edits it. */
function useNodeInput(run: RunId, node: string | undefined) {
  const client = useClient();
  const [typed, setTyped] = useState<string>();
  const { data } = useRead(['node-input', run, node ?? '', 'edited'], () => client.nodeInput(run, node ?? ''), {
    isEnabled: node !== undefined,
  });
  const before = data?.editable === undefined ? undefined : JSON.stringify(data.editable, null, 2);
  const text = typed ?? before;
  const read = text === undefined ? undefined : readJson(text);
  const isSame = read?.ok === true && JSON.stringify(read.value ?? null) === JSON.stringify(data?.editable);
  return {
    text,
    onText: setTyped,
    isValid: read?.ok !== false,
    changed: read?.ok === true && !isSame ? (read.value ?? null) : undefined,
  };
}
