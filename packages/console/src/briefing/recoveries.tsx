import type { RecoveryNote } from '@signalbox/model';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { Lamp } from '../shell/lamp.tsx';
import { Moment } from '../shell/moment.tsx';
import { ErrorBox } from '../shell/notices.tsx';
import { Panel } from '../shell/panel.tsx';
import { useCommand } from '../shell/use-command.ts';

const RECOVERIES = 'recoveries';
const AGAIN_MS = 15_000;

/** Interrupted tool calls, and how the next start handled them. Shows nothing if there were none. */
export function Recoveries({ now }: { readonly now: number }) {
  const client = useClient();
  const command = useCommand();
  const reads = useQueryClient();
  const { data, error } = useRead([RECOVERIES, Math.floor(now / AGAIN_MS)], () => client.recoveries(), { keeps: true });
  const dismiss = async (id: string) => {
    await command.send(() => client.dismissRecovery(id));
    await reads.invalidateQueries({ queryKey: [RECOVERIES] });
  };
  if (error !== null && data === undefined) return <ErrorBox error={error} title="Could not load recoveries" />;
  const notes = data?.recoveries ?? [];
  if (notes.length === 0) return null;
  return (
    <Panel title="Recovered after a crash" aside={<span className="asks">{notes.length}</span>}>
      {command.error !== undefined && <ErrorBox error={command.error} title="Could not dismiss" />}
      <ul className="needs">
        {notes.map(note => (
          <li key={note.id} aria-label={`Recovery of ${note.tool}`}>
            <Recovery note={note} />
            {note.outcome !== 'failed' && (
              <button type="button" className="button" disabled={command.isBusy} onClick={() => void dismiss(note.id)}>
                Dismiss
              </button>
            )}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Recovery({ note }: { readonly note: RecoveryNote }) {
  const { id, tool, run, node, at, outcome, message, paths } = note;
  return (
    <div className="px-3 py-2">
      <p>
        <Lamp signal={outcome === 'failed' ? 'failed' : 'held'} /> <strong>{tool}</strong> <code>{id}</code>{' '}
        {run !== undefined && (
          <Link to="/runs/$run" params={{ run }}>
            run {run.slice(0, 8)}
            {node !== undefined && `, ${node}`}
          </Link>
        )}{' '}
        <Moment at={at} className="text-faint" />
      </p>
      <p className="text-muted">{message}</p>
      {paths.map(({ what, paths: named, more }) => (
        <p key={what} className="text-muted">
          {what}: <code>{named.join(', ')}</code>
          {more > 0 && ` and ${more} more`}
        </p>
      ))}
    </div>
  );
}
