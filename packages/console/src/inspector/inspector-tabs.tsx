import {
  asJson,
  type Json,
  type NodeInput,
  type RunId,
  type TreeNode,
  type WireChunk,
  type WireDecision,
  type WireTask,
} from '@signalbox/model';
import { Suspense } from 'react';
import { spendingOf } from '../run/spending.ts';
import { SpendingWords } from '../run/spending-words.tsx';
import { CopyButton } from '../shell/copy-button.tsx';
import { JsonView } from '../shell/json-view.tsx';
import { lazyPart } from '../shell/lazy-part.ts';
import { Moment } from '../shell/moment.tsx';
import { Empty } from '../shell/notices.tsx';
import { ThrownCode } from '../shell/thrown-code.tsx';
import { useNow } from '../shell/use-now.ts';
import { type RunStory, spoken } from '../story/run-story.ts';
import { lasted, many, span } from '../story/words.ts';
import { Block, Pair } from './block.tsx';
import { Tail } from './tail.tsx';
import type { Transcript } from './transcript.ts';

const Prose = lazyPart(() => import('../shell/prose.tsx').then(({ Prose: component }) => ({ default: component })));

interface TabProps {
  readonly run: RunId;
  readonly node: TreeNode;
  readonly story: RunStory;
  readonly tasks: readonly WireTask[] | undefined;
  /** The selected one. */
  readonly task: WireTask | undefined;
  readonly chunks: readonly WireChunk[] | undefined;
  readonly transcript: Transcript | undefined;
}

interface WithDecisions extends TabProps {
  readonly decisions: readonly WireDecision[];
  readonly input: NodeInput | undefined;
}

export function SummaryTab({ node, tasks, task, chunks, story, decisions, input }: WithDecisions) {
  const now = useNow(task !== undefined && task.endedAt === undefined);
  const spent = chunks === undefined ? undefined : spendingOf(chunks);
  const waiting = decisions.filter(({ decision }) => decision.node === node.id);
  const ran = story.handlers.get(node.id) ?? [];
  const written = node.handlers ?? input?.handlers ?? [];
  const signature = input?.startedSignature ?? input?.signature;
  return (
    <>
      <dl className="pairs">
        {node.detail !== undefined && <Pair name="about">{node.detail}</Pair>}
        <Pair name="id">
          <code>{node.id}</code>
        </Pair>
        {waiting.length > 0 && <Pair name="asks">{many(waiting.length, 'decision')} for you</Pair>}
        {task !== undefined && (
          <>
            <Pair name="task">
              {task.status}
              {task.retryCount > 0 && `, ${many(task.retryCount, 'retry', 'retries')} of ${task.maxRetries}`}
            </Pair>
            <Pair name="effects">{task.effects}</Pair>
            {task.startedAt !== undefined && (
              <Pair name={task.endedAt === undefined ? 'for' : 'took'}>{tookOf(task, now)}</Pair>
            )}
            {task.startedAt !== undefined && (
              <Pair name="started">
                <Moment at={task.startedAt} />
              </Pair>
            )}
            {task.nextRetryAt !== undefined && (
              <Pair name="next retry">
                <Moment at={task.nextRetryAt} />
              </Pair>
            )}
          </>
        )}
        {spent !== undefined && spent.calls > 0 && (
          <Pair name="spent">
            <SpendingWords spending={spent} />
          </Pair>
        )}
        {signature !== undefined && (
          <Pair name="signature">
            <code title="Identifies the work: a retry repeats the same work, with the same signature.">
              {signature}
            </code>
          </Pair>
        )}
        {written.length > 0 && <Pair name="handlers">{written.join(', ')}</Pair>}
        {ran.length > 0 && <Pair name="handlers ran">{ran.join(', ')}</Pair>}
        {tasks !== undefined && tasks.length > 1 && <Pair name="tasks in total">{tasks.length}</Pair>}
      </dl>
      {task?.lastError !== undefined && (
        <div className="errorbox">
          <h3>Last error</h3>
          <pre className="errorbox-words">{task.lastError.message}</pre>
          <code>{task.lastError.code}</code>
          <ThrownCode thrown={task.lastError.thrown} />
        </div>
      )}
    </>
  );
}

export function OutputTab({ task, transcript }: TabProps) {
  const { result } = task ?? {};
  if (result === undefined) {
    const last = transcript?.turns.at(-1);
    return last === undefined || last === '' ? (
      <Empty title="No output yet" />
    ) : (
      <Block title="Last message">
        <Words value={last} />
      </Block>
    );
  }
  return <Words value={result} />;
}

export function LogsTab({ chunks, task, story }: TabProps) {
  const live = task?.status === 'running' ? story.speech.get(task.id)?.text : undefined;
  const text = live ?? chunks?.map(spoken).join('');
  if (text === undefined || text === '') return <Empty title="No messages yet" />;
  return <Tail text={text} />;
}

export function JsonTab({ node, tasks = [] }: TabProps) {
  return <JsonView value={asJson({ node, tasks })} />;
}

export function DefinitionTab({ node: { source } }: TabProps) {
  if (source === undefined) return <Empty title="Source location unknown" />;
  const place = `${source.file}:${source.line}:${source.column}`;
  return (
    <Block title="Source">
      <code className="break-all">{place}</code> <CopyButton text={place} label="Copy location" />
    </Block>
  );
}

function Words({ value }: { readonly value: Json }) {
  if (typeof value !== 'string') return <JsonView value={value} />;
  return (
    <Suspense fallback={<pre className="code">{value}</pre>}>
      <Prose text={value} />
    </Suspense>
  );
}

function tookOf({ startedAt, endedAt }: WireTask, now: number): string {
  const begun = startedAt === undefined ? now : Date.parse(startedAt);
  return endedAt === undefined ? span(now - begun) : lasted(Date.parse(endedAt) - begun);
}
