import type { RunId, WireTask } from '@signalbox/model';
import { Empty } from '../shell/notices.tsx';
import { CallCard } from '../transcript/call-card.tsx';
import { useCheckpoints } from './call-levers.tsx';
import type { Transcript } from './transcript.ts';
import { TurnChanges } from './turn-changes.tsx';

interface ToolsTabProps {
  readonly run: RunId;
  readonly transcript: Transcript | undefined;
  /** The selected one. */
  readonly task?: WireTask | undefined;
}

/** An agent's tool calls, with the actions for each, and the files that they changed. */
export function ToolsTab({ run, transcript, task }: ToolsTabProps) {
  const tools = transcript?.tools ?? [];
  const checkpoints = useCheckpoints(run, tools);
  if (tools.length === 0) return <Empty title="No tool calls" />;
  return (
    <>
      <ol className="tools">
        {tools.map(use => (
          <li key={use.call}>
            <CallCard
              run={run}
              use={use}
              isOver={task?.endedAt !== undefined}
              checkpoint={checkpoints.of(use.call)}
              onUndone={checkpoints.touch}
            />
          </li>
        ))}
      </ol>
      {task !== undefined && <TurnChanges run={run} task={task} />}
    </>
  );
}
