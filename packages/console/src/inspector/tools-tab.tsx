import type { RunId, WireCheckpoint, WireTask } from '@signalbox/model';
import { useState } from 'react';
import { ForkDialog } from '../run/fork-dialog.tsx';
import { useClient } from '../server/client-context.ts';
import { readPages } from '../server/read-pages.ts';
import { useRead } from '../server/use-read.ts';
import { useSettings } from '../settings/settings.ts';
import { Empty, ErrorBox } from '../shell/notices.tsx';
import { useCommand } from '../shell/use-command.ts';
import { RollbackDialog } from './rollback-dialog.tsx';
import { ToolCard } from './tool-card.tsx';
import type { ToolUse } from './tool-use.ts';
import type { Transcript } from './transcript.ts';
import { TurnChanges } from './turn-changes.tsx';
import { UndoDialog } from './undo-dialog.tsx';

interface ToolsTabProps {
  readonly run: RunId;
  readonly transcript: Transcript | undefined;
  /** The selected one. */
  readonly task?: WireTask | undefined;
}

/** An agent's tool calls, with the actions for each, and the files that they changed. */
export function ToolsTab({ run, transcript, task }: ToolsTabProps) {
  const client = useClient();
  const tools = transcript?.tools ?? [];
  const ended = tools.filter(({ status }) => status !== undefined).length;
  const [undone, setUndone] = useState(0);
  const { data } = useRead(
    ['checkpoints', run, tools.length, ended, undone],
    () => readPages(page => client.checkpoints(run, { limit: 1000, ...page })),
    {
      isEnabled: tools.length > 0,
      keeps: true,
    },
  );
  const checkpoints = data?.flatMap(page => page.checkpoints);
  if (tools.length === 0) return <Empty title="No tool calls" />;
  return (
    <>
      <ol className="tools">
        {tools.map(use => (
          <Tool
            key={use.call}
            run={run}
            use={use}
            isOver={task?.endedAt !== undefined}
            checkpoint={checkpoints?.find(({ call }) => call === use.call)}
            onUndone={() => setUndone(times => times + 1)}
          />
        ))}
      </ol>
      {task !== undefined && <TurnChanges run={run} task={task} />}
    </>
  );
}

interface ToolProps {
  readonly run: RunId;
  readonly use: ToolUse;
  readonly isOver: boolean;
  readonly checkpoint: WireCheckpoint | undefined;
  onUndone(): void;
}

function Tool({ run, use, isOver, checkpoint, onUndone }: ToolProps) {
  const { call, tool } = use;
  const client = useClient();
  const { dangerous } = useSettings();
  const { error, send } = useCommand();
  const [asks, setAsks] = useState<'undo' | 'kept' | 'fork' | 'rollback'>();
  // An agent's call that failed may have changed files all the same.
  const isDone = checkpoint?.outcome === 'succeeded' || checkpoint?.within !== undefined;
  const canUndo = checkpoint?.changesFiles === true && isDone && !checkpoint.undone;
  return (
    <li>
      <ToolCard use={use} isOver={isOver} isUndone={checkpoint?.undone === true}>
        {checkpoint !== undefined && (
          <div className="levers px-3 pb-2">
            <button type="button" className="button button-small" onClick={() => setAsks('fork')}>
              Fork before this call…
            </button>
            {canUndo && dangerous === 'ask' && (
              <button type="button" className="button button-small button-danger" onClick={() => setAsks('undo')}>
                Undo…
              </button>
            )}
            {dangerous === 'ask' && (
              <button type="button" className="button button-small button-danger" onClick={() => setAsks('rollback')}>
                Roll back to here…
              </button>
            )}
            {checkpoint.kept !== undefined && checkpoint.kept.length > 0 && dangerous === 'ask' && (
              <button type="button" className="button button-small" onClick={() => setAsks('kept')}>
                Bring back kept files…
              </button>
            )}
          </div>
        )}
        {use.notAlone !== undefined && (
          <p className="text-muted px-3 pb-2">It can be undone only with the whole turn: {use.notAlone}.</p>
        )}
        {error !== undefined && <ErrorBox error={error} title="Action failed" />}
      </ToolCard>
      {asks === 'fork' && (
        <ForkDialog
          run={run}
          title={`Fork before ${tool}`}
          fork={options => client.fork(run, { call, ...options })}
          onClose={() => setAsks(undefined)}
        />
      )}
      {asks === 'rollback' && checkpoint !== undefined && (
        <RollbackDialog run={run} checkpoint={checkpoint} onClose={() => setAsks(undefined)} />
      )}
      {(asks === 'undo' || asks === 'kept') && checkpoint !== undefined && (
        <UndoDialog
          run={run}
          checkpoint={checkpoint}
          kept={asks === 'kept'}
          onUndo={async () => {
            if (await send(() => client.undo(run, { call, kept: asks === 'kept' }))) onUndone();
          }}
          onClose={() => setAsks(undefined)}
        />
      )}
    </li>
  );
}
