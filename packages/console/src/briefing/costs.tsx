import type { RunSummary } from '@signalbox/model';
import { useQueries } from '@tanstack/react-query';
import { Empty } from '../frame/notices.tsx';
import { Panel } from '../frame/panel.tsx';
import { readSpending, type Spending, sumOf } from '../run/spending.ts';
import { SpendingWords } from '../run/spending-words.tsx';
import { useClient } from '../server/client-context.ts';

const DAY = 86_400_000;
const COUNTED = 60;

interface CostsProps {
  readonly runs: readonly RunSummary[];
  readonly now: number;
}

/** What models cost today and in seven days, by model and by project. It is added up from what agents kept, run by run. */
export function Costs({ runs, now }: CostsProps) {
  const client = useClient();
  const recent = runs.filter(({ record }) => now - Date.parse(record.createdAt) < 7 * DAY);
  const counted = recent.slice(0, COUNTED);
  const spent = useQueries({
    queries: counted.map(({ id, record }) => ({
      queryKey: ['spending', id, record.status],
      queryFn: () => readSpending(client, id),
    })),
  });
  const lines = counted.flatMap(({ record }, index) =>
    [...(spent[index]?.data ?? [])].map(([model, spending]) => ({
      model,
      spending,
      project: projectOf(record.entry),
      isToday: new Date(record.createdAt).toDateString() === new Date(now).toDateString(),
    })),
  );
  const isReading = spent.some(({ isPending }) => isPending);
  const today = sumOf(lines.filter(({ isToday }) => isToday).map(({ spending }) => spending));
  const week = sumOf(lines.map(({ spending }) => spending));
  return (
    <Panel title="Cost" aside={isReading && <span className="text-faint">adding up…</span>}>
      {!isReading && week.calls === 0 ? (
        <Empty title="No model was called in the last seven days" />
      ) : (
        <>
          <dl className="totals">
            <div>
              <dt>today</dt>
              <dd>
                <SpendingWords spending={today} />
              </dd>
            </div>
            <div>
              <dt>seven days</dt>
              <dd>
                <SpendingWords spending={week} />
              </dd>
            </div>
          </dl>
          <Table title="by model" lines={lines} by={({ model }) => model} />
          <Table title="by project" lines={lines} by={({ project }) => project} />
          {recent.length > counted.length && (
            <p className="px-3 pb-2 text-faint">The last {COUNTED} runs are counted.</p>
          )}
        </>
      )}
    </Panel>
  );
}

interface Line {
  readonly model: string;
  readonly project: string;
  readonly spending: Spending;
}

function Table({
  title,
  lines,
  by,
}: {
  readonly title: string;
  readonly lines: readonly Line[];
  by(line: Line): string;
}) {
  const groups = [...Map.groupBy(lines, by)]
    .map(([name, members]) => ({ name, spending: sumOf(members.map(({ spending }) => spending)) }))
    .toSorted((a, b) => b.spending.costMicroUsd - a.spending.costMicroUsd || b.spending.calls - a.spending.calls);
  return (
    <table className="costs">
      <caption className="eyebrow">{title}</caption>
      <tbody>
        {groups.map(({ name, spending }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>
              <SpendingWords spending={spending} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The folder that holds the plan, or the project around `.signalbox`. */
function projectOf(entry: string | undefined): string {
  if (entry === undefined) return 'unknown';
  const [before, inside] = entry.split('/.signalbox/');
  const folder = inside === undefined ? entry.split('/').slice(0, -1) : (before ?? '').split('/');
  return folder.at(-1) ?? entry;
}
