import type { RunId, RunSummary, TreeNode } from '@signalbox/model';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { words } from '../failures/words.ts';
import { Tail } from '../inspector/tail.tsx';
import { useStream, useTasks } from '../inspector/use-node-work.ts';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { Moment } from '../shell/moment.tsx';
import { ErrorBox } from '../shell/notices.tsx';
import { ThrownCode } from '../shell/thrown-code.tsx';
import { useCommand } from '../shell/use-command.ts';
import { sameFailures } from '../story/failure-groups.ts';
import { type RunStory, spoken } from '../story/run-story.ts';
import { ForkDialog } from './fork-dialog.tsx';
import { NodeLink } from './node-link.tsx';

interface FailedNodeProps {
  readonly run: RunId;
  readonly node: TreeNode;
  readonly story: RunStory;
  onCurrent(node: string): void;
}

/** A failed node: its own error, the log of its last attempt, and the actions that follow from it. */
export function FailedNode({ run, node, story, onCurrent }: FailedNodeProps) {
  const client = useClient();
  const { isBusy, error, send } = useCommand();
  const [isEditing, setIsEditing] = useState(false);
  const [isLogOpen, setIsLogOpen] = useState(false);
  const tasks = useTasks(run, node.id, story.events);
  const task = tasks?.at(-1);
  const fault = task?.lastError;
  // The run's own error says the same of the node that ended it.
  const said = fault?.message.replace(/^\w*Error: /, '');
  const isOwn = fault !== undefined && said !== undefined && story.fault?.message.includes(said) !== true;
  return (
    <div className="failed-node">
      <NodeLink node={node} onCurrent={onCurrent} />
      <button
        type="button"
        className="button button-small button-main"
        aria-label={`${words.retryNode} ${node.label}`}
        disabled={isBusy}
        onClick={() => send(() => client.retry(run, node.id))}
      >
        {words.retryNode}
      </button>
      <button
        type="button"
        className="button button-small"
        aria-label={`${words.rerun} ${node.label}`}
        onClick={() => setIsEditing(true)}
      >
        {words.rerun}
      </button>
      {isOwn && (
        <div className="failed-own">
          <pre className="errorbox-words">{fault.message}</pre>
          <ThrownCode thrown={fault.thrown} isOpen />
        </div>
      )}
      {task !== undefined && (
        <details className="failed-log" onToggle={event => setIsLogOpen(event.currentTarget.open)}>
          <summary>{words.log(task.retryCount + 1)}</summary>
          {isLogOpen && <AttemptLog run={run} task={task} />}
        </details>
      )}
      {error !== undefined && <ErrorBox error={error} title={words.actionFailed} />}
      {isEditing && (
        <ForkDialog
          run={run}
          title={words.rerunTitle(node.label)}
          node={node.id}
          fork={options => client.rerun(run, node.id, options)}
          onClose={() => setIsEditing(false)}
        />
      )}
    </div>
  );
}

function AttemptLog({
  run,
  task,
}: {
  readonly run: RunId;
  readonly task: NonNullable<ReturnType<typeof useTasks>>[0];
}) {
  const { chunks, error } = useStream(run, task, 0);
  const text = chunks?.map(spoken).join('').trim() ?? '';
  if (chunks === undefined && error !== null) return <ErrorBox error={error} title={words.logNotLoaded} />;
  if (chunks === undefined) return <p className="text-muted">{words.loading}</p>;
  return text === '' ? <p className="text-muted">{words.emptyLog}</p> : <Tail text={text} label={words.log(1)} />;
}

const READ = 200;
const SHOWN = 3;

/** Earlier runs that failed in the same way. */
export function SameFailure({ summary }: { readonly summary: RunSummary }) {
  const client = useClient();
  const { data } = useRead(['failed-before', summary.id], () =>
    client.runs({ status: ['failed', 'stalled'], limit: READ }),
  );
  if (data === undefined) return null;
  const before = sameFailures(data.runs, summary);
  return (
    <div className="failed-before">
      <span className="text-muted">{words.before(before.length)}</span>
      {before.slice(0, SHOWN).map(({ id, record }) => (
        <Link key={id} to="/runs/$run" params={{ run: id }} search={{}}>
          {record.name} <Moment at={record.endedAt ?? record.updatedAt} className="text-faint" />
        </Link>
      ))}
      {before.length > SHOWN && <Link to="/failures">{words.more(before.length - SHOWN)}</Link>}
    </div>
  );
}
