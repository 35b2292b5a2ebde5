import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useClient } from '../server/client-context.ts';
import { Lamp } from '../shell/lamp.tsx';
import { ErrorBox } from '../shell/notices.tsx';
import { useCommand } from '../shell/use-command.ts';
import { FLEET, useFleet, useFleetRead } from './fleet-live.tsx';
import { type AgentDecision, badgesOf, decisionTitle, dueWords, resolutionFor } from './fleet-words.ts';

/** The decisions of agents of the fleet, most urgent first. Nothing is shown while none waits. */
export function AgentQueue() {
  const client = useClient();
  const { decisions = [] } = useFleet();
  const { data: ticks } = useFleetRead(['ticks'], () => client.ticks(), decisions.length > 0);
  if (decisions.length === 0) return null;
  return (
    <section aria-label="Decisions of the fleet" className="decisions fleet-queue">
      {decisions.map(decision => (
        <AgentQuestion key={decision.id} decision={decision} tick={ticks?.current ?? 0} />
      ))}
    </section>
  );
}

interface AgentQuestionProps {
  readonly decision: AgentDecision;
  readonly tick: number;
}

function AgentQuestion({ decision, tick }: AgentQuestionProps) {
  const { agentId, agentName, workstream, severity, blastRadius, confidence, subject, requiresRationale } = decision;
  const client = useClient();
  const reads = useQueryClient();
  const { isBusy, error, send } = useCommand();
  const [why, setWhy] = useState('');
  const title = decisionTitle(decision);
  const due = dueWords(decision, tick);
  const lacksWhy = requiresRationale && why.trim() === '';
  const say = async (given: Parameters<typeof resolutionFor>[1]) => {
    const resolution = resolutionFor(decision, given, why);
    await send(() => client.resolveDecision(decision.id, { resolution, proposalHash: decision.proposalHash }));
    await reads.invalidateQueries({ queryKey: [FLEET] });
  };
  return (
    <article className="decision" data-severity={severity} aria-label={`${agentName}: ${title}`}>
      <header>
        <Lamp signal={decision.status === 'suspended' ? 'held' : 'waiting'} size={16} />
        <h2>{title}</h2>
        {badgesOf(decision).map(badge => (
          <span key={badge} className="asks">
            {badge}
          </span>
        ))}
        <span className={`tag severity-${severity}`}>{severity}</span>
        {due !== undefined && <span className="tag">{due}</span>}
      </header>
      <p className="text-muted">
        <Link to="/fleet" search={{ agent: agentId }}>
          {agentName}
        </Link>{' '}
        in {workstream} · affects: {blastRadius} · {Math.round(confidence * 100)} % sure
      </p>
      {subject.subtype === 'option' ? (
        <>
          {subject.summary !== '' && <p className="whitespace-pre-wrap">{subject.summary}</p>}
          <ul className="options">
            {subject.options.map(({ id, label, description, tradeoffs }) => (
              <li key={id}>
                <button
                  type="button"
                  className="option"
                  disabled={isBusy || lacksWhy}
                  onClick={() => say({ option: id })}
                >
                  <strong>
                    {label}
                    {id === subject.recommendedOptionId && <span className="tag ml-1">recommended</span>}
                  </strong>
                  {description !== '' && <span>{description}</span>}
                  {tradeoffs !== undefined && <span>{tradeoffs}</span>}
                </button>
              </li>
            ))}
          </ul>
        </>
      ) : (
        <dl className="args">
          {Object.entries(subject.toolArgs).map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <pre>{typeof value === 'string' ? value : JSON.stringify(value, null, 2)}</pre>
              </dd>
            </div>
          ))}
        </dl>
      )}
      <div className="answers">
        {subject.subtype === 'tool_approval' && (
          <>
            <button
              type="button"
              className="button button-go"
              disabled={isBusy || lacksWhy}
              onClick={() => say({ isYes: true })}
            >
              Approve
            </button>
            <button
              type="button"
              className="button"
              disabled={isBusy || lacksWhy}
              onClick={() => say({ isYes: true, always: true })}
            >
              Always approve {subject.toolName}
            </button>
          </>
        )}
        <button
          type="button"
          className="button button-danger"
          disabled={isBusy || lacksWhy}
          onClick={() => say({ isYes: false })}
        >
          Reject
        </button>
        <input
          className="why"
          aria-label={requiresRationale ? 'Reason' : 'Reason (optional)'}
          placeholder={requiresRationale ? 'Reason' : 'Reason (optional)'}
          required={requiresRationale}
          value={why}
          maxLength={2000}
          onChange={({ target }) => setWhy(target.value)}
        />
      </div>
      {error !== undefined && <ErrorBox error={error} title="Answer not accepted" />}
    </article>
  );
}
