import type { RunSummary, WireSpending } from '@signalbox/model';
import { sumOf } from '../run/spending.ts';
import { SpendingWords } from '../run/spending-words.tsx';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { Empty, ErrorBox } from '../shell/notices.tsx';
import { Panel } from '../shell/panel.tsx';
import { movesOf } from '../story/runs-list.ts';
import { projectFolder } from '../story/runs-search.ts';

const DAY = 86_400_000;

/** What models cost today and in seven days, by model and by project. Days are the server's: UTC. */
export function Costs({ runs, now }: { readonly runs: readonly RunSummary[]; readonly now: number }) {
  const client = useClient();
  const today = new Date(now).toISOString().slice(0, 10);
  const since = new Date(Date.parse(today) - 6 * DAY).toISOString();
  // What a run spends is counted again when it moves on to something else.
  const moves = movesOf(runs);
  const { data, error } = useRead(['spending', since, moves], () => client.spending({ since }), { keeps: true });
  if (error !== null && data === undefined) return <ErrorBox error={error} title="The cost could not be read" />;
  const lines = data?.spending ?? [];
  return (
    <Panel title="Cost">
      {lines.length === 0 ? (
        <Empty title={data === undefined ? 'Adding up…' : 'No model was called in the last seven days'} />
      ) : (
        <>
          <dl className="totals">
            <div>
              <dt>today</dt>
              <dd>
                <SpendingWords spending={sumOf(lines.filter(({ day }) => day === today))} />
              </dd>
            </div>
            <div>
              <dt>seven days</dt>
              <dd>
                <SpendingWords spending={sumOf(lines)} />
              </dd>
            </div>
          </dl>
          <Table title="by model" lines={lines} by={({ model }) => model ?? 'unknown'} />
          <Table
            title="by project"
            lines={lines}
            by={({ directory }) => (directory === undefined ? 'unknown' : projectFolder(directory))}
            shown={folder => folder.split(/[\\/]/).at(-1) || folder}
          />
        </>
      )}
    </Panel>
  );
}

interface TableProps {
  readonly title: string;
  readonly lines: readonly WireSpending[];
  by(line: WireSpending): string;
  /** What is shown of a group's name, where that is not all of it. */
  readonly shown?: (name: string) => string;
}

function Table({ title, lines, by, shown = name => name }: TableProps) {
  const groups = [...Map.groupBy(lines, by)]
    .map(([name, members]) => ({ name, spending: sumOf(members) }))
    .toSorted((a, b) => b.spending.costMicroUsd - a.spending.costMicroUsd || b.spending.calls - a.spending.calls);
  return (
    <table className="costs">
      <caption className="eyebrow">{title}</caption>
      <tbody>
        {groups.map(({ name, spending }) => (
          <tr key={name}>
            <th scope="row" title={name}>
              {shown(name)}
            </th>
            <td>
              <SpendingWords spending={spending} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
