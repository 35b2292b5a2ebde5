import { useFleetRead } from '../fleet/fleet-live.tsx';
import { useClient } from '../server/client-context.ts';
import { ErrorBox } from '../shell/notices.tsx';
import { Panel } from '../shell/panel.tsx';
import { useCommand } from '../shell/use-command.ts';
import { lasted } from '../story/words.ts';

/** Logical time: what decisions are due by, and what trust decays with. */
export function TickPanel({ onChanged }: { onChanged(): void }) {
  const client = useClient();
  const { data } = useFleetRead(['ticks'], () => client.ticks());
  const { isBusy, error, send } = useCommand();
  const advance = async (by: number) => {
    await send(() => client.advanceTicks({ by }));
    onChanged();
  };
  return (
    <Panel title="Time" aside={<span className="text-muted">tick {data?.current ?? '…'}</span>}>
      <p className="px-3 py-2 text-muted">
        {data?.config.mode === 'manual'
          ? 'Ticks pass when you advance them.'
          : `A tick passes every ${lasted(data?.config.intervalMs ?? 0)} while an agent works or waits.`}
      </p>
      {data?.config.mode === 'manual' && (
        <div className="levers px-3 pb-2">
          {[1, 10, 100].map(by => (
            <button key={by} type="button" className="button" disabled={isBusy} onClick={() => advance(by)}>
              Advance by {by}
            </button>
          ))}
        </div>
      )}
      {error !== undefined && <ErrorBox error={error} title="Time did not advance" />}
    </Panel>
  );
}
