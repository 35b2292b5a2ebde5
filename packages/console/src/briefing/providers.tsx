import type { ProviderHealth, RunSummary, WireProvider } from '@signalbox/model';
import { Link } from '@tanstack/react-router';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { Lamp } from '../shell/lamp.tsx';
import { Moment } from '../shell/moment.tsx';
import { Empty, ErrorBox } from '../shell/notices.tsx';
import { Panel } from '../shell/panel.tsx';
import { movesOf } from '../story/runs-list.ts';
import { many, type Signal } from '../story/words.ts';
import { providersOfInterest, windowWords } from './provider-words.ts';

const AGAIN_MS = 15_000;
const standings: Record<ProviderHealth, { readonly signal: Signal; readonly word: string }> = {
  ok: { signal: 'done', word: 'OK' },
  limited: { signal: 'held', word: 'rate limited' },
  failing: { signal: 'failed', word: 'fails' },
  unknown: { signal: 'idle', word: 'not called yet' },
};

/** The health of model providers, and until when they are rate limited. */
export function Providers({ runs, now }: { readonly runs: readonly RunSummary[]; readonly now: number }) {
  const client = useClient();
  // Runs make the calls: read again when a run changes, and every few seconds.
  const moves = movesOf(runs);
  const { data, error } = useRead(['providers', moves, Math.floor(now / AGAIN_MS)], () => client.providers(), {
    keeps: true,
  });
  if (error !== null && data === undefined) return <ErrorBox error={error} title="Could not load providers" />;
  const shown = providersOfInterest(data?.providers ?? []);
  return (
    <Panel title="Providers" aside={<Link to="/settings">settings</Link>}>
      {data === undefined ? (
        <Empty title="Loading…" />
      ) : shown.length === 0 ? (
        <Empty title="No provider has a key or was called" />
      ) : (
        <ul className="providers">
          {shown.map(provider => (
            <Provider key={provider.name} provider={provider} now={now} />
          ))}
        </ul>
      )}
    </Panel>
  );
}

function Provider({ provider, now }: { readonly provider: WireProvider; readonly now: number }) {
  const { name, health, waitsUntil, failuresInRow, lastError, models, windows } = provider;
  const { signal, word } = standings[health];
  const waiting = models.reduce((sum, model) => sum + model.waiting, 0);
  return (
    <li aria-label={name}>
      <p className="provider-head">
        <Lamp signal={signal} />
        <strong>{name}</strong>
        <span className={`word word-${signal}`}>{word}</span>
        {waitsUntil !== undefined && Date.parse(waitsUntil) > now && (
          <span className="text-muted">for {Math.ceil((Date.parse(waitsUntil) - now) / 1000)} s more</span>
        )}
        {waiting > 0 && <span className="asks">{many(waiting, 'call waiting', 'calls waiting')}</span>}
      </p>
      {models.length > 0 && (
        <p className="truncate text-muted">
          {models.map(({ model, calls }) => `${model}: ${many(calls, 'call')}`).join(', ')}
        </p>
      )}
      {windows.map(window => (
        <p key={`${window.model} ${window.counts}`} className="provider-window">
          {window.limit !== undefined && window.remaining !== undefined && (
            <progress
              value={window.remaining}
              max={Math.max(window.limit, 1)}
              aria-label={`${window.counts} left to ${window.model}`}
            />
          )}
          <span>{windowWords(window, now)}</span>
        </p>
      ))}
      {failuresInRow > 0 && lastError !== undefined && (
        <p className="provider-error">
          {failuresInRow === 1 ? 'The last call failed' : `The last ${failuresInRow} calls failed`},{' '}
          <Moment at={lastError.at} />: {lastError.message}
        </p>
      )}
    </li>
  );
}
