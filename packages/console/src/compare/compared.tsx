import type { ComparedRun, FramePair, RunComparison, ValuePair } from '@signalbox/model';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ValueDiff } from '../run/value-diff.tsx';
import { Panel } from '../shell/panel.tsx';
import { causeWords } from '../story/cause-words.ts';
import { lasted, many, money, storedStanding, tokens } from '../story/words.ts';
import { differsWords, relationWords, compareWords as words } from './compare-words.ts';

/** Everything in which two runs differ, what matters first. */
export function Compared({ compared }: { readonly compared: RunComparison }) {
  const { a, b, relation, plan, input, state, output, files, filesUnknown, nodes, decisions } = compared;
  const isAlike = [plan.files, input, state, output, files, nodes, decisions].every(list => list.length === 0);
  return (
    <div className="compared">
      <p className="text-muted">
        {relationWords[relation.kind]}
        {relation.frame !== undefined && ` at frame ${relation.frame}.`}
      </p>
      <Facts a={a} b={b} />
      <Frames compared={compared} />
      {isAlike && <p className="text-muted">{words.sameEnd}</p>}
      <Values title={words.input} pairs={input} />
      <Values title={words.state} pairs={state} />
      <Values title={words.output} pairs={output} />
      <Rows title={words.plan} count={plan.files.length}>
        {plan.files.map(({ path, change }) => (
          <tr key={path}>
            <th scope="row">{path}</th>
            <td colSpan={2}>{change}</td>
          </tr>
        ))}
      </Rows>
      <Rows title={words.files} count={files.length}>
        {files.map(({ path, a: old, b: now, same }) => (
          <tr key={path}>
            <th scope="row">{path}</th>
            <td>{old ?? words.none}</td>
            <td>
              {now ?? words.none}
              {old !== undefined && now !== undefined && (
                <span className="text-muted">, {same ? words.alike : words.unlike}</span>
              )}
            </td>
          </tr>
        ))}
      </Rows>
      {filesUnknown !== undefined && <p className="text-muted">{filesUnknown}</p>}
      <Rows title={words.decisions} count={decisions.length}>
        {decisions.map(({ node, kind, a: old, b: now }, index) => (
          <tr key={`${node} ${kind} ${String(index)}`}>
            <th scope="row">{node}</th>
            <td>{answerWords(old)}</td>
            <td>{answerWords(now)}</td>
          </tr>
        ))}
      </Rows>
      <Rows title={words.work} count={nodes.length}>
        {nodes.map(({ node, label, a: old, b: now }) => (
          <tr key={node}>
            <th scope="row">{label}</th>
            <td>{workWords(old)}</td>
            <td>{workWords(now)}</td>
          </tr>
        ))}
      </Rows>
    </div>
  );
}

function Facts({ a, b }: { readonly a: ComparedRun; readonly b: ComparedRun }) {
  const facts: readonly (readonly [name: string, of: (run: ComparedRun) => ReactNode])[] = [
    [words.status, ({ status }) => storedStanding(status).word],
    [words.time, ({ ms }) => lasted(ms)],
    [words.frames, ({ frames }) => frames],
    [words.cost, ({ costMicroUsd }) => money(costMicroUsd)],
    [words.tokens, run => tokens(run.tokens)],
    [words.toolCalls, ({ toolCalls }) => toolCalls],
    ...(a.error === undefined && b.error === undefined
      ? []
      : [[words.error, ({ error }: ComparedRun) => error ?? words.none] as const]),
  ];
  return (
    <Panel title={words.facts}>
      <div className="table-box">
        <table className="compare-table">
          <thead>
            <tr>
              <td />
              {[a, b].map((run, index) => (
                <th key={run.run + String(index)} scope="col">
                  <span className="compare-side">{index === 0 ? 'A' : 'B'}</span>
                  <Link to="/runs/$run" params={{ run: run.run }} search={{}}>
                    {run.name}
                  </Link>{' '}
                  <span className="mono text-muted">{run.run.slice(-8)}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {facts.map(([name, of]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{of(a)}</td>
                <td>{of(b)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

function Frames({ compared: { a, b, frames } }: { readonly compared: RunComparison }) {
  return (
    <Panel title={words.part}>
      <p className="px-3 py-2">
        {frames.partAt === undefined ? words.never(frames.same) : words.sameUntil(frames.same)}
      </p>
      {frames.pairs.length > 0 && (
        <div className="table-box">
          <table className="compare-table">
            <thead>
              <tr>
                <th scope="col">{words.differsIn}</th>
                <th scope="col">A</th>
                <th scope="col">B</th>
              </tr>
            </thead>
            <tbody>
              {frames.pairs.map(pair => (
                <tr key={`${pair.a ?? ''} ${pair.b ?? ''}`} data-same={pair.same || undefined}>
                  <th scope="row">
                    {pair.same
                      ? words.sameFrame
                      : pair.a === undefined || pair.b === undefined
                        ? words.onlyIn(pair.a === undefined ? 'B' : 'A')
                        : pair.differs.map(part => differsWords[part]).join(', ')}
                    {pair.keys.length > 0 && <span className="mono text-muted">: {pair.keys.join(', ')}</span>}
                  </th>
                  <td>
                    <FrameLink run={a.run} frame={pair.a} trigger={pair.aTrigger} />
                  </td>
                  <td>
                    <FrameLink run={b.run} frame={pair.b} trigger={pair.bTrigger} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {frames.more > 0 && <p className="px-3 py-2 text-muted">{words.more(frames.more)}</p>}
    </Panel>
  );
}

function FrameLink({
  run,
  frame,
  trigger,
}: {
  readonly run: string;
  readonly frame: FramePair['a'];
  readonly trigger: string | undefined;
}) {
  if (frame === undefined) return words.none;
  return (
    <>
      <Link to="/runs/$run" params={{ run }} search={{ frame, tab: 'state' }} preload={false}>
        Frame {frame}
      </Link>
      {trigger !== undefined && <span className="text-muted"> {causeWords(trigger)}</span>}
    </>
  );
}

function Values({ title, pairs }: { readonly title: string; readonly pairs: readonly ValuePair[] }) {
  if (pairs.length === 0) return null;
  return (
    <Panel title={title}>
      <table className="state">
        <tbody>
          {pairs.map(({ key, a, b }) => (
            <tr key={key}>
              <th scope="row">{key}</th>
              <td>
                <ValueDiff before={a} after={b} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

function Rows({
  title,
  count,
  children,
}: {
  readonly title: string;
  readonly count: number;
  readonly children: ReactNode;
}) {
  if (count === 0) return null;
  return (
    <Panel title={title}>
      <div className="table-box">
        <table className="compare-table">
          <thead>
            <tr>
              <td />
              <th scope="col">A</th>
              <th scope="col">B</th>
            </tr>
          </thead>
          <tbody>{children}</tbody>
        </table>
      </div>
    </Panel>
  );
}

function answerWords(given: RunComparison['decisions'][number]['a']): ReactNode {
  if (given === undefined) return words.none;
  const { status, answer, by, reason } = given;
  return (
    <>
      {answer ?? status}
      {by !== undefined && <span className="text-muted"> by {by}</span>}
      {reason !== undefined && <span className="text-muted">: {reason}</span>}
    </>
  );
}

function workWords(given: RunComparison['nodes'][number]['a']): ReactNode {
  if (given === undefined) return words.none;
  const { status, ms, attempts, error } = given;
  return (
    <>
      {status}, {lasted(ms)}
      {attempts > 1 && <span className="text-muted">, {many(attempts, 'attempt')}</span>}
      {error !== undefined && <span className="text-muted">: {error}</span>}
    </>
  );
}
