import { isWorkKind, type Json, type RunId, type TreeNode, timerDue } from '@signalbox/model';
import { DecisionCard } from '../decisions/decision-card.tsx';
import { Tail } from '../inspector/tail.tsx';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { JsonView } from '../shell/json-view.tsx';
import { ErrorBox } from '../shell/notices.tsx';
import { Panel } from '../shell/panel.tsx';
import { ThrownCode } from '../shell/thrown-code.tsx';
import { useNow } from '../shell/use-now.ts';
import { hasFailed } from '../story/failure-groups.ts';
import { reasonWords } from '../story/reason-words.ts';
import type { RunStory } from '../story/run-story.ts';
import { nextWork } from '../story/tree-rows.ts';
import { span } from '../story/words.ts';
import { FailedNode, SameFailure } from './failed-node.tsx';
import { LastMoves } from './last-moves.tsx';
import { NodeLink } from './node-link.tsx';
import { Watched } from './watched.tsx';
import { WorkCard } from './work-card.tsx';

interface NowTabProps {
  readonly run: RunId;
  readonly story: RunStory;
  readonly nodes: readonly TreeNode[];
  onCurrent(node: string): void;
  onFrame(frame: number): void;
}

const NEXT_SHOWN = 4;
const FAILED_SHOWN = 10;

/** The current state: open decisions, failures, running work and its output, what comes next, the result. */
export function NowTab({ run, story, nodes, onCurrent, onFrame }: NowTabProps) {
  const { summary, decisions, tasks, speech, fault, nodes: byId, events } = story;
  const status = summary?.record.status;
  const hasEnded = summary?.record.endedAt !== undefined;
  const failed = nodes.filter(node => node.status === 'failed' && isWorkKind(node.kind));
  const working = tasks.filter(task => task.status === 'running');
  // Its decision shows what it asks a person.
  const held = hasEnded
    ? []
    : nodes.filter(
        ({ id, status: is, kind }) =>
          is === 'blocked' && isWorkKind(kind) && !decisions.some(({ decision }) => decision.node === id),
      );
  const next = hasEnded ? [] : nextWork(nodes, NEXT_SHOWN);
  const now = useNow(working.length + held.length > 0);
  return (
    <div className="now">
      {fault !== undefined && (
        <ErrorBox error={fault} title={status === 'failed' ? 'The run failed' : 'The run had an error'}>
          <ThrownCode thrown={fault.thrown} isOpen />
          {failed.length > 0 && (
            <div className="flex flex-col gap-2">
              {failed.slice(0, FAILED_SHOWN).map(node => (
                <FailedNode key={node.id} run={run} node={node} story={story} onCurrent={onCurrent} />
              ))}
              {failed.length > FAILED_SHOWN && (
                <p className="text-muted">{failed.length - FAILED_SHOWN} more failed nodes are in the plan.</p>
              )}
            </div>
          )}
          {summary !== undefined && hasFailed(summary) && <SameFailure summary={summary} />}
        </ErrorBox>
      )}
      {decisions.length > 0 && (
        <section aria-label="Decisions that need you" className="decisions">
          {decisions.map(decision => (
            <DecisionCard
              key={decision.approvalId}
              decision={decision}
              label={byId.get(decision.decision.node)?.label ?? decision.decision.node}
            />
          ))}
        </section>
      )}
      {working.map(task => {
        const node = byId.get(task.node);
        const said = speech.get(task.id)?.text;
        const label = node?.label ?? task.node;
        return (
          <WorkCard
            key={task.id}
            signal="working"
            label={label}
            kind={node?.kind}
            time={task.startedAt && span(now - Date.parse(task.startedAt))}
            onCurrent={() => onCurrent(task.node)}
          >
            {said !== undefined && said !== '' && <Tail text={said} label={`Output of ${label}`} />}
          </WorkCard>
        );
      })}
      {held.map(({ id, label, kind, reason }) => {
        const again = timerDue(reason) ?? tasks.findLast(task => task.node === id)?.nextRetryAt;
        const left = again === undefined ? 0 : Date.parse(again) - now;
        return (
          <WorkCard
            key={id}
            signal="held"
            label={label}
            kind={kind}
            why={reason === undefined ? 'is blocked' : reasonWords(reason)}
            time={left > 0 ? `in ${span(left)}` : undefined}
            onCurrent={() => onCurrent(id)}
          />
        );
      })}
      {status === 'completed' && <Outcome run={run} known={story.output} />}
      {next.length > 0 && (
        <Panel title="Next">
          <p className="flex flex-wrap gap-x-4 gap-y-1 px-3 py-2">
            {next.map(node => (
              <NodeLink key={node.id} node={node} onCurrent={onCurrent} />
            ))}
          </p>
        </Panel>
      )}
      <Watched run={run} events={events} />
      <LastMoves story={story} onCurrent={onCurrent} onFrame={onFrame} />
    </div>
  );
}

/** The output of a completed run. */
function Outcome({ run, known }: { readonly run: RunId; readonly known: Json | undefined }) {
  const client = useClient();
  const { data } = useRead(['outcome', run], () => client.run(run), { isEnabled: known === undefined });
  const output: Json | undefined = known ?? data?.output;
  if (output === undefined || output === null) return null;
  return (
    <Panel title="Output">
      <JsonView value={output} />
    </Panel>
  );
}
