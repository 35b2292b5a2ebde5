import type { RunId, TreeNode } from '@signalbox/model';
import { useState } from 'react';
import { Confirm } from '../frame/confirm.tsx';
import { ErrorBox } from '../frame/notices.tsx';
import { useCommand } from '../frame/use-command.ts';
import { ForkDialog } from '../run/fork-dialog.tsx';
import { useClient } from '../server/client-context.ts';
import { useSettings } from '../settings/settings.ts';
import { workKinds } from '../story/tree-rows.ts';

/** What can be done about a node, if it is one that does work. */
export function NodeLevers({ run, node }: { readonly run: RunId; readonly node: TreeNode }) {
  const client = useClient();
  const { dangerous } = useSettings();
  const { isBusy, error, send } = useCommand();
  const [asks, setAsks] = useState<'rerun' | 'reset'>();
  if (!workKinds.has(node.kind)) return null;
  const { id, status, label } = node;
  const canCancel = status === 'running' || status === 'scheduled' || status === 'blocked';
  const canRetry = status === 'failed' || status === 'canceled' || status === 'succeeded' || status === 'abandoned';
  const hasBegun = canCancel || canRetry;
  if (!hasBegun && error === undefined) return null;
  return (
    <div className="levers">
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
      {canRetry && dangerous === 'ask' && (
        <button type="button" className="button button-small button-danger" onClick={() => setAsks('reset')}>
          Reset…
        </button>
      )}
      {asks === 'rerun' && (
        <ForkDialog
          run={run}
          title={`Rerun from ${label}`}
          fork={options => client.rerun(run, id, options)}
          onClose={() => setAsks(undefined)}
        />
      )}
      {asks === 'reset' && (
        <Confirm
          title={`Reset ${label}?`}
          word="Reset"
          onConfirm={() => send(() => client.reset(run, id))}
          onClose={() => setAsks(undefined)}
        >
          <p>What it did and kept in this run no longer counts, and it begins anew.</p>
        </Confirm>
      )}
      {error !== undefined && <ErrorBox error={error} title="It did not work" />}
    </div>
  );
}
