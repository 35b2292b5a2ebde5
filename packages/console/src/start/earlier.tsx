import type { RunId, RunSummary } from '@signalbox/model';
import type { useClient } from '../server/client-context.ts';
import type { useRead } from '../server/use-read.ts';
import { Lamp } from '../shell/lamp.tsx';
import { Moment } from '../shell/moment.tsx';
import { Empty, ErrorBox } from '../shell/notices.tsx';
import { Panel } from '../shell/panel.tsx';
import { many, runStanding, storedStanding } from '../story/words.ts';
import { startWords as words } from './start-words.ts';

type Plans = Extract<Awaited<ReturnType<ReturnType<typeof useClient>['plans']>>, { readonly ok: true }>['value'];

interface KnownPlansProps {
  readonly read: Pick<ReturnType<typeof useRead<Plans>>, 'data' | 'error'>;
  /** The chosen file. */
  readonly file: string;
  onFile(file: string): void;
}

/** The plans that were run here before. */
export function KnownPlans({ read: { data, error }, file: chosen, onFile }: KnownPlansProps) {
  const plans = data?.plans ?? [];
  return (
    <Panel title={words.known}>
      {error !== null && data === undefined ? (
        <ErrorBox error={error} title={words.knownFailed} />
      ) : plans.length === 0 ? (
        <Empty title={data === undefined ? words.loading : words.knownNone} />
      ) : (
        <ul className="earlier">
          {plans.map(({ file, name, runs: count, exists, lastRun }) => (
            <li key={file}>
              <button
                type="button"
                className="earlier-run"
                disabled={!exists}
                title={file}
                aria-pressed={file === chosen}
                onClick={() => onFile(file)}
              >
                <Lamp signal={storedStanding(lastRun.status).signal} />
                <span className="truncate">
                  {name} <span className="text-muted">{file.split(/[\\/]/).at(-1)}</span>
                </span>
                <span className="text-muted">{exists ? many(count, 'run') : words.gone}</span>
                <Moment at={lastRun.createdAt} className="text-faint" />
              </button>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

interface EarlierRunsProps {
  readonly title: string;
  readonly runs: readonly RunSummary[];
  onRun(run: RunId): void;
}

/** Earlier runs whose values a new one can use. */
export function EarlierRuns({ title, runs, onRun }: EarlierRunsProps) {
  return (
    <Panel title={title}>
      {runs.length === 0 ? (
        <Empty title={words.earlierNone} />
      ) : (
        <ul className="earlier">
          {runs.map(run => (
            <li key={run.id}>
              <button type="button" className="earlier-run" onClick={() => onRun(run.id)}>
                <Lamp signal={runStanding(run).signal} />
                <span className="truncate">
                  {run.record.name} <span className="mono text-muted">{run.id.slice(-8)}</span>
                </span>
                <Moment at={run.record.createdAt} className="text-faint" />
                <span className="text-working">{words.useValues}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
