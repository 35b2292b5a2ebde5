import type { WireFleetLog } from '@signalbox/model';
import { useState } from 'react';
import { useFleetRead } from '../fleet/fleet-live.tsx';
import { asWords } from '../fleet/fleet-words.ts';
import { useClient } from '../server/client-context.ts';
import { Moment } from '../shell/moment.tsx';
import { Empty, ErrorBox } from '../shell/notices.tsx';
import { Panel } from '../shell/panel.tsx';
import { lineOf } from './log-line.ts';

const PAGE = 50;
type Entry = WireFleetLog['entries'][number];

/** Every step of every decision and every use of the controls, newest first. */
export function DecisionLog({ nameOf }: { nameOf(agent: string): string }) {
  const client = useClient();
  const [older, setOlder] = useState<readonly Entry[]>([]);
  const [isAll, setIsAll] = useState(false);
  const { data, error } = useFleetRead(['audit'], () => client.fleetLog({ kind: 'audit', limit: PAGE }));
  const newest = data?.entries ?? [];
  // What was newest before is older by now, and in neither page for a moment.
  const known = new Set(newest.map(({ place }) => place));
  const entries = [...newest, ...older.filter(({ place }) => !known.has(place))];
  const readMore = async () => {
    const last = entries.at(-1)?.place;
    const page = await client.fleetLog({ kind: 'audit', limit: PAGE, ...(last !== undefined && { before: last }) });
    if (!page.ok) return;
    setOlder([...entries, ...page.value.entries]);
    setIsAll(page.value.entries.length < PAGE);
  };
  return (
    <Panel title="Decision log" className="wide">
      {error !== null && data === undefined && <ErrorBox error={error} title="Could not load the log" />}
      {entries.length === 0 && error === null && (
        <Empty title={data === undefined ? 'Loading…' : 'Nothing was decided yet.'} />
      )}
      {entries.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a table that scrolls is reached with the keyboard
        <section className="table-box fleet-table" tabIndex={0} aria-label="Entries, newest first">
          <table className="facts-table">
            <thead>
              <tr>
                <th scope="col">when</th>
                <th scope="col">what</th>
                <th scope="col">agent</th>
                <th scope="col">by</th>
                <th scope="col">why</th>
              </tr>
            </thead>
            <tbody>
              {entries.map(({ place, agent, value }) => {
                const { at, action, by, reason } = lineOf(value);
                return (
                  <tr key={place}>
                    <th scope="row">{at !== undefined && <Moment at={at} />}</th>
                    <td>{asWords(action)}</td>
                    <td>{agent === undefined ? '' : nameOf(agent)}</td>
                    <td>{nameOf(by)}</td>
                    <td>{reason}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </section>
      )}
      {newest.length === PAGE && !isAll && (
        <button type="button" className="button button-quiet" onClick={readMore}>
          Show older
        </button>
      )}
    </Panel>
  );
}
