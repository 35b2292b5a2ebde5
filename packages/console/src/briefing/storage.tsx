import { Link } from '@tanstack/react-router';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { Lamp } from '../shell/lamp.tsx';
import { Panel } from '../shell/panel.tsx';
import { many } from '../story/words.ts';

const AGAIN_MS = 5000;

/** Says that the data directory takes no writes, and which runs are paused because of it. Nothing is shown while all is well. */
export function Storage({ moves, now }: { readonly moves: string; readonly now: number }) {
  const client = useClient();
  const { data } = useRead(['storage', moves, Math.floor(now / AGAIN_MS)], () => client.health(), { keeps: true });
  const storage = data?.storage;
  if (storage === undefined || storage.status === 'ok') return null;
  return (
    <Panel title="Disk" aside={<span className="asks">{storage.runs.length}</span>}>
      <p className="px-3 py-2" role="alert">
        <Lamp signal="failed" /> {storage.message} {many(storage.runs.length, 'run')} paused; they go on by themselves
        when there is room.
      </p>
      <ul className="needs">
        {storage.runs.map(run => (
          <li key={run}>
            <Link to="/runs/$run" params={{ run }}>
              <Lamp signal="held" /> run {run.slice(0, 8)}
            </Link>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
