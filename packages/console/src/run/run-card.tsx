import type { Json, RunSummary } from '@signalbox/model';
import { Block, Pair } from '../inspector/block.tsx';
import { CopyButton } from '../shell/copy-button.tsx';
import { JsonView } from '../shell/json-view.tsx';
import { Moment } from '../shell/moment.tsx';
import { many, money, span, tokens } from '../story/words.ts';
import { LineagePanel } from './lineage-panel.tsx';

/** The run itself, if no node is selected: its input, limits, origin and permanent ids. */
export function RunCard({ summary, input }: { readonly summary: RunSummary; readonly input: Json | undefined }) {
  const { record } = summary;
  return (
    <section aria-label="Inspector" className="inspector">
      <header className="inspector-head">
        <h2>
          <span className="truncate">This run</span>
          <span className="kind">{record.driver}</span>
        </h2>
        <p className="text-muted">Choose a node of the plan to inspect it.</p>
      </header>
      <div className="tabpage">
        <dl className="pairs">
          <Pair name="id">
            <code>{record.id}</code> <CopyButton text={record.id} label="Copy full id" />
          </Pair>
          {record.entry !== undefined && (
            <Pair name="plan">
              <code>{record.entry}</code>
            </Pair>
          )}
          {record.correlationId !== undefined && <Pair name="correlation">{record.correlationId}</Pair>}
          <Pair name="started">
            <Moment at={record.createdAt} />
          </Pair>
          {record.endedAt !== undefined && (
            <Pair name="ended">
              <Moment at={record.endedAt} />
            </Pair>
          )}
          <Pair name="events">{record.nextSeq}</Pair>
          <Pair name="head">
            <code title="The hash of its last event, chained to all before it: store it to prove later that nothing was changed.">
              {record.head.slice(0, 23)}…
            </code>{' '}
            <CopyButton text={record.head} label="Copy head" />
          </Pair>
          {record.kept !== undefined && (
            <Pair name="kept">
              by {record.kept.by}, <Moment at={record.kept.at} />
            </Pair>
          )}
          <Limits limits={record.limits} />
        </dl>
        <LineagePanel run={record.id} origin={record.origin} />
        {hasContent(input) && (
          <Block title="Input">
            <JsonView value={input} />
          </Block>
        )}
      </div>
    </section>
  );
}

function hasContent(input: Json | undefined): input is Json {
  if (input === undefined || input === null) return false;
  return typeof input !== 'object' || Object.keys(input).length > 0;
}

function Limits({ limits }: { readonly limits: RunSummary['record']['limits'] }) {
  const { maxWallClockMs, maxTotalTokens, maxToolCalls, maxCostMicroUsd, maxRetriesPerTask } = limits;
  const words = [
    maxWallClockMs !== undefined && span(maxWallClockMs),
    maxTotalTokens !== undefined && `${tokens(maxTotalTokens)} tokens`,
    maxCostMicroUsd !== undefined && money(maxCostMicroUsd),
    maxToolCalls !== undefined && many(maxToolCalls, 'tool call'),
    maxRetriesPerTask !== undefined && `${many(maxRetriesPerTask, 'retry', 'retries')} a task`,
  ].filter(word => word !== false);
  return words.length === 0 ? null : <Pair name="limits">{words.join(', ')}</Pair>;
}
