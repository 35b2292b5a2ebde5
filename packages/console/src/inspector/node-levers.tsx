import type { RunId, TreeNode } from '@signalbox/model';
import { ErrorBox } from '../frame/notices.tsx';
import { useCommand } from '../frame/use-command.ts';
import { useClient } from '../server/client-context.ts';
import { workKinds } from '../story/tree-rows.ts';

/** What can be done about a node, if it is one that does work. */
export function NodeLevers({ run, node }: { readonly run: RunId; readonly node: TreeNode }) {
  const client = useClient();
  const { isBusy, error, send } = useCommand();
  if (!workKinds.has(node.kind)) return null;
  const { id, status } = node;
  const canCancel = status === 'running' || status === 'scheduled' || status === 'blocked';
  const canRetry = status === 'failed' || status === 'canceled' || status === 'succeeded' || status === 'abandoned';
  if (!canCancel && !canRetry && error === undefined) return null;
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
      {error !== undefined && <ErrorBox error={error} title="It did not work" />}
    </div>
  );
}
