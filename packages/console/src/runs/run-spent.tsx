import type { RunSummary } from '@signalbox/model';
import { sumOf } from '../run/spending.ts';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { money, tokens } from '../story/words.ts';

const MINUTE = 60_000;

/** The spending of a run so far. While the run is active it is read again once a minute. */
export function RunSpent({ run: { id, record }, now }: { readonly run: RunSummary; readonly now: number }) {
  const client = useClient();
  const when = record.endedAt ?? `${record.status} ${record.status === 'running' ? Math.floor(now / MINUTE) : ''}`;
  const { data } = useRead(['spent', id, when], () => client.spending({ run: id }), { keeps: true });
  if (data === undefined) return null;
  if (data.spending.length === 0) return <span className="text-faint">–</span>;
  const { costMicroUsd, inputTokens, outputTokens } = sumOf(data.spending);
  const models = new Set(data.spending.map(({ model = 'a model' }) => model));
  return (
    <span title={`${[...models].join(', ')}: ${inputTokens} tokens in, ${outputTokens} out`}>
      {costMicroUsd > 0 && `${money(costMicroUsd)} · `}
      {tokens(inputTokens + outputTokens)} <span className="sr-only">tokens</span>
    </span>
  );
}
