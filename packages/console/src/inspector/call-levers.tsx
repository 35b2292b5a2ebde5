import type { RunId, WireCheckpoint } from '@signalbox/model';
import { useState } from 'react';
import { ForkDialog } from '../run/fork-dialog.tsx';
import { useClient } from '../server/client-context.ts';
import { readPages } from '../server/read-pages.ts';
import { useRead } from '../server/use-read.ts';
import { useSettings } from '../settings/settings.ts';
import { ErrorBox } from '../shell/notices.tsx';
import { useCommand } from '../shell/use-command.ts';
import { words } from '../transcript/words.ts';
import { RollbackDialog } from './rollback-dialog.tsx';
import type { ToolUse } from './tool-use.ts';
import { UndoDialog } from './undo-dialog.tsx';

export interface Checkpoints {
  of(call: string): WireCheckpoint | undefined;
  /** Reads them again. */
  touch(): void;
}

/** What can be undone of a run's calls. Read again when a call ends. */
export function useCheckpoints(run: RunId, tools: readonly ToolUse[]): Checkpoints {
  const client = useClient();
  const ended = tools.filter(({ status }) => status !== undefined).length;
  const [touched, setTouched] = useState(0);
  const { data } = useRead(
    ['checkpoints', run, tools.length, ended, touched],
    () => readPages(page => client.checkpoints(run, { limit: 1000, ...page })),
    { isEnabled: tools.length > 0, keeps: true },
  );
  const byCall = new Map(data?.flatMap(page => page.checkpoints.map(one => [one.call, one] as const)));
  return { of: call => byCall.get(call), touch: () => setTouched(times => times + 1) };
}

interface CallLeversProps {
  readonly run: RunId;
  readonly use: ToolUse;
  readonly checkpoint: WireCheckpoint;
  onUndone(): void;
}

/** The actions for one tool call. */
export function CallLevers({ run, use: { call, tool }, checkpoint, onUndone }: CallLeversProps) {
  const client = useClient();
  const { dangerous } = useSettings();
  const { error, send } = useCommand();
  const [asks, setAsks] = useState<'undo' | 'kept' | 'fork' | 'rollback'>();
  // An agent's call that failed may have changed files all the same.
  const isDone = checkpoint.outcome === 'succeeded' || checkpoint.within !== undefined;
  const canUndo = checkpoint.changesFiles && isDone && !checkpoint.undone;
  const close = () => setAsks(undefined);
  return (
    <>
      <div className="levers call-levers">
        {canUndo && dangerous === 'ask' && (
          <button type="button" className="button button-small button-danger" onClick={() => setAsks('undo')}>
            {words.call.undo}
          </button>
        )}
        <button type="button" className="button button-small" onClick={() => setAsks('fork')}>
          {words.call.fork}
        </button>
        {dangerous === 'ask' && (
          <button type="button" className="button button-small button-danger" onClick={() => setAsks('rollback')}>
            {words.call.rollback}
          </button>
        )}
        {checkpoint.kept !== undefined && checkpoint.kept.length > 0 && dangerous === 'ask' && (
          <button type="button" className="button button-small" onClick={() => setAsks('kept')}>
            {words.call.kept}
          </button>
        )}
      </div>
      {error !== undefined && <ErrorBox error={error} title="Action failed" />}
      {asks === 'fork' && (
        <ForkDialog
          run={run}
          title={`Fork before ${tool}`}
          fork={options => client.fork(run, { call, ...options })}
          onClose={close}
        />
      )}
      {asks === 'rollback' && <RollbackDialog run={run} checkpoint={checkpoint} onClose={close} />}
      {(asks === 'undo' || asks === 'kept') && (
        <UndoDialog
          run={run}
          checkpoint={checkpoint}
          kept={asks === 'kept'}
          onUndo={async () => {
            if (await send(() => client.undo(run, { call, kept: asks === 'kept' }))) onUndone();
          }}
          onClose={close}
        />
      )}
    </>
  );
}
