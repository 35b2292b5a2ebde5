import { isWorkKind, nodeKindFacts, type RunId, type TreeNode } from '@signalbox/model';
import { useState } from 'react';
import { ForkDialog } from '../run/fork-dialog.tsx';
import { useClient } from '../server/client-context.ts';
import { useSettings } from '../settings/settings.ts';
import { Confirm } from '../shell/confirm.tsx';
import { ErrorBox } from '../shell/notices.tsx';
import { offered, usePageActions } from '../shell/page-actions.ts';
import { useCommand } from '../shell/use-command.ts';

/** The actions for a node that does work, or for a loop. */
export function NodeLevers({ run, node }: { readonly run: RunId; readonly node: TreeNode }) {
  const client = useClient();
  const { dangerous } = useSettings();
  const { isBusy, error, send } = useCommand();
  const [asks, setAsks] = useState<'rerun' | 'reset'>();
  const { id, status, label } = node;
  const isLoop = nodeKindFacts(node.kind)?.role === 'loop';
  const isWork = isWorkKind(node.kind);
  const canCancel = isWork && (status === 'running' || status === 'scheduled' || status === 'blocked');
  const canRetry =
    isWork && (status === 'failed' || status === 'canceled' || status === 'succeeded' || status === 'abandoned');
  // An ended loop takes no more iterations, and one that has not started took none.
  const isBetween = status === 'idle' && node.iteration > 0;
  const isTurning = isLoop && (isBetween || status === 'running' || status === 'blocked' || status === 'failed');
  const canReset = isTurning && dangerous === 'ask';
  const hasBegun = canCancel || canRetry;
  usePageActions([
    ...(canRetry ? [{ name: `Retry ${label}`, key: 'r', act: () => void send(() => client.retry(run, id)) }] : []),
    ...(canCancel ? [{ name: `Cancel ${label}`, act: () => void send(() => client.cancel(run, id)) }] : []),
    ...(hasBegun ? [{ name: `Rerun from ${label}…`, act: () => setAsks('rerun') }] : []),
    ...(canReset ? [{ name: `Reset the counter of ${label}…`, act: () => setAsks('reset') }] : []),
  ]);
  if (!hasBegun && !canReset && error === undefined) return null;
  return (
    <div className="levers" {...offered}>
      {canRetry && (
        <button
          type="button"
          className={`button button-small ${status === 'failed' ? 'button-main' : ''}`}
          disabled={isBusy}
          onClick={() => send(() => client.retry(run, id))}
        >
          Retry
        </button>
      )}
      {canCancel && (
        <button
          type="button"
          className="button button-small button-danger"
          disabled={isBusy}
          onClick={() => send(() => client.cancel(run, id))}
        >
          Cancel
        </button>
      )}
      {hasBegun && (
        <button type="button" className="button button-small" onClick={() => setAsks('rerun')}>
          Rerun from here…
        </button>
      )}
      {canReset && (
        <button type="button" className="button button-small button-danger" onClick={() => setAsks('reset')}>
          Reset counter…
        </button>
      )}
      {asks === 'rerun' && (
        <ForkDialog
          run={run}
          title={`Rerun from ${label}`}
          node={id}
          fork={options => client.rerun(run, id, options)}
          onClose={() => setAsks(undefined)}
        />
      )}
      {asks === 'reset' && (
        <Confirm
          title={`Reset the counter of ${label}?`}
          word="Reset"
          onConfirm={() => send(() => client.reset(run, id))}
          onClose={() => setAsks(undefined)}
        >
          <p>Its past iterations no longer count: it may take as many again as allowed. Work already done stays.</p>
        </Confirm>
      )}
      {error !== undefined && <ErrorBox error={error} title="Action failed" />}
    </div>
  );
}
