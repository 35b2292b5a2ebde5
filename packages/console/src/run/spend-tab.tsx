import type { RunId, WireModelCall } from '@signalbox/model';
import { useState } from 'react';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { JsonView } from '../shell/json-view.tsx';
import { Moment } from '../shell/moment.tsx';
import { Empty, ErrorBox } from '../shell/notices.tsx';
import { money, tokens } from '../story/words.ts';
import { callWords, shortOf, spendRows } from './spend-rows.ts';

const LOOK_MS = 1_500;
const SHOWN_CALLS = 100;

interface SpendTabProps {
  readonly run: RunId;
  readonly hasEnded: boolean;
  /** Changes when the run does. */
  readonly version: string;
  /** Only of this node. */
  readonly node?: string | undefined;
  onCurrent(node: string): void;
}

/** What a run spends, while it does: by node, by subagent, and call by call. */
export function SpendTab({ run, hasEnded, version, node, onCurrent }: SpendTabProps) {
  const client = useClient();
  const [open, setOpen] = useState<string>();
  const { data, error } = useRead(['spend', run, hasEnded ? version : ''], () => client.runSpend(run), {
    keeps: true,
    everyMs: hasEnded ? undefined : LOOK_MS,
  });
  if (error !== null && data === undefined) return <ErrorBox error={error} title="Could not load what was spent" />;
  if (data === undefined) return <Empty title="Loading…" />;
  const { total, limits } = data;
  const rows = spendRows(data).filter(row => node === undefined || row.node === node);
  const calls = data.calls.filter(call => node === undefined || call.node === node).toReversed();
  return (
    <div className="now">
      <p>
        {money(total.costMicroUsd)}
        {limits.maxCostMicroUsd !== undefined && ` of ${money(limits.maxCostMicroUsd)}`} ·{' '}
        {tokens(total.inputTokens + total.outputTokens)}
        {limits.maxTotalTokens !== undefined && ` of ${tokens(limits.maxTotalTokens)}`} tokens
        <span className="text-muted"> with sub-plans</span>
      </p>
      {rows.length === 0 ? (
        <Empty title="Nothing spent yet" />
      ) : (
        <div className="table-box">
          <table className="facts-table">
            <thead>
              <tr>
                <th scope="col">node</th>
                <th scope="col">calls</th>
                <th scope="col">cost</th>
                <th scope="col">tokens in</th>
                <th scope="col">tokens out</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(row => (
                <tr key={row.key}>
                  <th scope="row" className={row.isPart ? 'pl-6 text-muted' : ''}>
                    {row.isPart ? (
                      row.name
                    ) : (
                      <button type="button" className="linklike" onClick={() => onCurrent(row.node)}>
                        {row.name}
                      </button>
                    )}
                  </th>
                  <td>{row.calls}</td>
                  <td>{money(row.costMicroUsd)}</td>
                  <td>{tokens(row.inputTokens)}</td>
                  <td>{tokens(row.outputTokens)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {calls.length > 0 && <h3 className="eyebrow pt-3">Calls of models, latest first</h3>}
      <ul aria-label="Calls of models">
        {calls.slice(0, SHOWN_CALLS).map(call => (
          <li key={call.call} className="py-1">
            <CallLine
              call={call}
              isOpen={open === call.call}
              onToggle={() => setOpen(open === call.call ? undefined : call.call)}
            />
            {open === call.call && <CallContents run={run} call={call.call} />}
          </li>
        ))}
      </ul>
      {data.callsInAll > Math.min(calls.length, SHOWN_CALLS) && node === undefined && (
        <p className="text-muted">The latest of {data.callsInAll} calls.</p>
      )}
    </div>
  );
}

interface CallLineProps {
  readonly call: WireModelCall;
  readonly isOpen: boolean;
  onToggle(): void;
}

function CallLine({ call, isOpen, onToggle }: CallLineProps) {
  const { node, subagent, provider, model, at, outcome, reason } = call;
  const hasContents = outcome === 'answered' || outcome === 'cut' || outcome === 'refused';
  return (
    <>
      <button type="button" className="linklike" aria-expanded={isOpen} disabled={!hasContents} onClick={onToggle}>
        {node}
        {subagent != null && ` › subagent ${shortOf(subagent.id)}`}
      </button>{' '}
      <code>
        {provider}:{model}
      </code>{' '}
      {callWords(call)}{' '}
      <span className="text-muted">
        <Moment at={at} />
        {reason !== undefined && ` · ${reason}`}
      </span>
    </>
  );
}

/** A call as it went to its model, and what changed since the call before. */
function CallContents({ run, call }: { readonly run: RunId; readonly call: string }) {
  const client = useClient();
  const { data, error } = useRead(['model-call', run, call], () => client.modelCall(run, call));
  if (error !== null && data === undefined) return <ErrorBox error={error} title="Could not load the call" />;
  if (data === undefined) return <Empty title="Loading…" />;
  const { request, answer, since } = data;
  if (request === undefined && answer === undefined)
    return <p className="text-muted">Its request and answer were not kept.</p>;
  return (
    <div className="pl-4">
      {since !== undefined && (
        <details open>
          <summary>
            Since the call before: {since.added.length} added, {since.removed.length} removed, {since.same} the same
          </summary>
          {since.added.map(({ list, value }, index) => (
            <figure key={`+${index}`} aria-label={`Added to ${list}`}>
              <figcaption className="text-muted">+ {list}</figcaption>
              <JsonView value={value} />
            </figure>
          ))}
          {since.removed.map(({ list, value }, index) => (
            <figure key={`-${index}`} aria-label={`Removed from ${list}`}>
              <figcaption className="text-muted">− {list}</figcaption>
              <JsonView value={value} />
            </figure>
          ))}
        </details>
      )}
      {request !== undefined && (
        <details>
          <summary>Request</summary>
          <JsonView value={request} />
        </details>
      )}
      {answer !== undefined && (
        <details>
          <summary>Answer</summary>
          <JsonView value={answer} />
        </details>
      )}
    </div>
  );
}
