import type { RunSnapshot, WireDecision } from '@signalbox/model';
import { Suspense } from 'react';
import { sumOf } from '../run/spending.ts';
import { SpendingWords } from '../run/spending-words.tsx';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { lazyPart } from '../shell/lazy-part.ts';
import type { Question } from '../story/question.ts';
import { nextWork } from '../story/tree-rows.ts';
import { many } from '../story/words.ts';
import { noWords, words, yesWords } from './words.ts';

const ChangedFiles = lazyPart(() => import('../run/changed-files.tsx'));

interface EvidenceProps {
  readonly decision: WireDecision;
  readonly question: Question;
  /** Who asks, by name. */
  readonly asker: string;
  readonly snapshot?: RunSnapshot | undefined;
}

/** What a person needs beside the question: what was changed so far, what each answer does, and the cost so far. */
export function Evidence({ decision, question, asker, snapshot }: EvidenceProps) {
  const client = useClient();
  const { runId: run, sessionId, decision: asked } = decision;
  const isGuided = sessionId !== undefined;
  // An agent that asks about a call shows its own changes; a question to a person is about the whole run.
  const isCall = question.args !== undefined || question.agent !== undefined;
  const changes = useRead(
    ['asking-changes', run, asked.proposalHash, isCall],
    () => client.changes(run, isCall ? { node: asked.node } : {}),
    { isEnabled: !isGuided },
  );
  const spending = useRead(['asking-spending', run, asked.proposalHash], () => client.spending({ run }), {
    isEnabled: !isGuided,
  });
  const [next] = nextWork(snapshot?.tree.filter(({ status }) => status === 'idle') ?? [], 1);
  const yes = yesWords(question, asker, next?.label);
  const spent = spending.data && sumOf(spending.data.spending);
  const files = changes.data?.directories.reduce((sum, one) => sum + one.files.length, 0) ?? 0;
  return (
    <div className="evidence">
      {changes.data !== undefined && files + changes.data.unknown.length > 0 && (
        <details open={!isCall}>
          <summary>
            {isCall ? words.changed : words.changedByRun}: {many(files, 'file')}
          </summary>
          <Suspense>
            <ChangedFiles {...changes.data} />
          </Suspense>
        </details>
      )}
      {!isGuided && (
        <dl className="evidence-facts">
          {yes !== undefined && (
            <div>
              <dt>{words.onYes}</dt>
              <dd>{yes}</dd>
            </div>
          )}
          {question.wants.kind !== 'permission' && question.held === undefined && (
            <div>
              <dt>{words.onNo}</dt>
              <dd>{noWords(question, asker)}</dd>
            </div>
          )}
          {spent !== undefined && spent.calls > 0 && (
            <div>
              <dt>{words.spent}</dt>
              <dd>
                <SpendingWords spending={spent} />
              </dd>
            </div>
          )}
        </dl>
      )}
    </div>
  );
}
