import { useClient } from '../server/client-context.ts';
import { Lamp } from '../shell/lamp.tsx';
import { Empty, ErrorBox } from '../shell/notices.tsx';
import { Panel } from '../shell/panel.tsx';
import { useCommand } from '../shell/use-command.ts';
import { useFleetRead } from './fleet-live.tsx';
import { asWords, signed } from './fleet-words.ts';
import { Lever } from './lever.tsx';

const settled: readonly string[] = ['resolved', 'dismissed'];

/** Where the work of agents contradicts itself. */
export function CoherencePanel({ onChanged }: { onChanged(): void }) {
  const client = useClient();
  const { data } = useFleetRead(['coherence'], () => client.coherence());
  const { isBusy, error, send } = useCommand();
  const open = data?.issues.filter(({ status }) => !settled.includes(status)) ?? [];
  const settle = async (issue: string, as: 'confirmed' | 'resolved' | 'dismissed') => {
    await send(() => client.settleIssue(issue, as));
    onChanged();
  };
  return (
    <Panel
      title="Coherence"
      aside={
        data && (
          <span className="text-muted">
            {data.score} of 100{data.trend !== 0 && ` (${signed(data.trend)})`}
          </span>
        )
      }
    >
      {open.length === 0 && <Empty title={data === undefined ? 'Loading…' : 'Nothing contradicts itself.'} />}
      <ul className="fleet-items">
        {open.map(({ id, title, description, category, severity, status, affectedWorkstreams }) => (
          <li key={id}>
            <p className="fleet-item-head">
              <Lamp signal={severity === 'critical' || severity === 'high' ? 'failed' : 'held'} />
              <strong>{title}</strong>
              <span className={`tag severity-${severity}`}>{severity}</span>
              <span className="tag">{asWords(category)}</span>
              {status !== 'open' && <span className="tag">{status}</span>}
            </p>
            <p className="text-muted">{description}</p>
            {affectedWorkstreams.length > 0 && <p className="text-faint">{affectedWorkstreams.join(', ')}</p>}
            <div className="levers">
              {status !== 'confirmed' && (
                <Lever words="Confirm" of={title} isBusy={isBusy} onPress={() => settle(id, 'confirmed')} />
              )}
              <Lever words="Resolve" of={title} isBusy={isBusy} onPress={() => settle(id, 'resolved')} />
              <Lever words="Dismiss" of={title} isBusy={isBusy} onPress={() => settle(id, 'dismissed')} />
            </div>
          </li>
        ))}
      </ul>
      {error !== undefined && <ErrorBox error={error} title="Could not settle the issue" />}
    </Panel>
  );
}
