import { type FormEvent, useId, useState } from 'react';
import { useClient } from '../server/client-context.ts';
import { ErrorBox } from '../shell/notices.tsx';
import { useCommand } from '../shell/use-command.ts';

interface WorkflowCopyProps {
  readonly workflow: string;
  onCopied(workflow: string): void;
}

/** Copies a workflow into a namespace of the person's own, where it can be changed. */
export function WorkflowCopy({ workflow, onCopied }: WorkflowCopyProps) {
  const client = useClient();
  const why = useId();
  const { isBusy, error, send } = useCommand();
  const [newId, setNewId] = useState(`team.${workflow.slice(workflow.indexOf('.') + 1)}`);

  async function copy(event: FormEvent) {
    event.preventDefault();
    await send(async () => {
      const copied = await client.copyWorkflow(workflow, { newId: newId.trim() });
      if (copied.ok) onCopied(copied.value.workflowId);
      return copied;
    });
  }

  return (
    <form className="form max-w-[60ch]" aria-label={`Copy ${workflow}`} onSubmit={copy}>
      <label>
        Id of the copy
        <input value={newId} aria-describedby={why} onChange={event => setNewId(event.target.value)} />
      </label>
      <p id={why} className="text-muted">
        A namespace of your own, a dot and a name. Runs continue with the workflow that they began with.
      </p>
      {error !== undefined && <ErrorBox error={error} title="Could not copy the workflow" />}
      <button type="submit" className="button self-start" disabled={isBusy || newId.trim() === ''}>
        Copy
      </button>
    </form>
  );
}
