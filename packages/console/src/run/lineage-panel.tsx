import type { RunId } from '@signalbox/model';
import { Link } from '@tanstack/react-router';
import { Moment } from '../frame/moment.tsx';
import { Panel } from '../frame/panel.tsx';
import { useClient } from '../server/client-context.ts';
import { useLive } from '../server/live.tsx';
import { useRead } from '../server/use-read.ts';

/** The runs that were forked from this one. */
export function LineagePanel({ run }: { readonly run: RunId }) {
  const client = useClient();
  const { runs = [] } = useLive();
  const known = runs.filter(({ record }) => record.origin?.run === run).length;
  const { data } = useRead(['lineage', run, known], () => client.lineage(run), { keeps: true });
  if (data === undefined || data.forks.length === 0) return null;
  return (
    <Panel title="Forks of this run">
      <ul className="moves">
        {data.forks.map(fork => (
          <li key={fork.run}>
            <Link to="/runs/$run" params={{ run: fork.run }} search={{}}>
              {fork.name}
            </Link>
            <span className="text-muted">
              from frame {fork.frame}, {fork.status}
            </span>
            <Moment at={fork.createdAt} className="text-faint" />
          </li>
        ))}
      </ul>
    </Panel>
  );
}
