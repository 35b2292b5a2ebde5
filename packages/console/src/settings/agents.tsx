import type { Answer } from '@signalbox/client';
import type { UserRole, WireAgent } from '@signalbox/model';
import { useRef, useState } from 'react';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { Dialog } from '../shell/dialog.tsx';
import { Lamp } from '../shell/lamp.tsx';
import { Moment } from '../shell/moment.tsx';
import { Empty, ErrorBox } from '../shell/notices.tsx';
import { Panel } from '../shell/panel.tsx';
import { useCommand } from '../shell/use-command.ts';
import { agentAsks, agentReports, agentStanding } from './agent-standing.ts';

const LOOK_MS = 1_000;

/** The agents of other vendors on this machine. Installations and checks run in the server: leaving the page does not end them. */
export function Agents({ role }: { readonly role: UserRole }) {
  const client = useClient();
  const [isBusy, setIsBusy] = useState(false);
  const { data, error, refetch } = useRead(
    ['agents'],
    async () => {
      const read = await client.agents();
      setIsBusy(read.ok && read.value.agents.some(({ job }) => job !== undefined));
      return read;
    },
    { keeps: true, everyMs: isBusy ? LOOK_MS : undefined },
  );
  if (error !== null && data === undefined)
    return error.code === 'request/unknown-route' ? null : <ErrorBox error={error} title="Could not load agents" />;
  return (
    <Panel title="Agents">
      <p className="px-3 pt-2 text-muted">
        Agents of other vendors that can do the work of a plan’s agent nodes. They run confined, in a home of their own,
        and ask before they change anything. {role !== 'owner' && 'Only an owner adds and removes them.'}
      </p>
      {data === undefined ? (
        <Empty title="Loading…" />
      ) : (
        <div className="table-box">
          <table className="facts-table agents">
            <thead>
              <tr>
                <th scope="col">agent</th>
                <th scope="col">state</th>
                <th scope="col">version</th>
                <th scope="col">asks by</th>
                <th scope="col">reports</th>
                <th scope="col">
                  <span className="sr-only">actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {data.agents.map(agent => (
                <AgentRow key={agent.id} agent={agent} role={role} onChanged={refetch} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      <p className="px-3 py-2 text-muted">
        <code>signalbox agents</code> does the same. Commands of your own are named in <code>agents</code> of{' '}
        <code>config.json</code>.
      </p>
    </Panel>
  );
}

interface AgentRowProps {
  readonly agent: WireAgent;
  readonly role: UserRole;
  onChanged(): Promise<unknown>;
}

function AgentRow({ agent, role, onChanged }: AgentRowProps) {
  const { id, title, package: of, installed, isTried, quirks, check, job } = agent;
  const client = useClient();
  const head = useRef<HTMLTableCellElement>(null);
  const [asks, setAsks] = useState(false);
  const { isBusy, error, send } = useCommand();
  const { signal, word, sentence, advice } = agentStanding(agent);
  const [isOwner, isOperator] = [role === 'owner', role === 'owner' || role === 'operator'];
  // The button that was pressed goes away: the focus stays at its agent.
  const act = async (command: () => Answer<unknown>) => {
    head.current?.focus();
    await send(command);
    await onChanged();
  };
  return (
    <tr>
      <th scope="row" ref={head} tabIndex={-1}>
        <span className="font-medium">{title}</span> <code className="text-muted">{id}</code>
        {!isTried && (
          <span className="tag" title="No test of Signalbox runs this agent.">
            untried
          </span>
        )}
        {quirks.length > 0 && (
          <details className="quirks">
            <summary>Good to know</summary>
            <ul>
              {quirks.map(quirk => (
                <li key={quirk}>{quirk}</li>
              ))}
            </ul>
          </details>
        )}
      </th>
      <td className="agent-state">
        <p role="status" className={`word word-${signal}`}>
          <Lamp signal={signal} /> <span className="sr-only">{title}: </span>
          {word}
          {job !== undefined && '…'}
        </p>
        {job !== undefined && <JobProgress agent={agent} job={job} />}
        {sentence !== undefined && (
          <p className={signal === 'failed' ? 'text-failed' : 'text-muted'}>
            {[sentence, advice].flatMap(ended).join(' ')}
          </p>
        )}
        {check !== undefined && job === undefined && (
          <p className="text-faint">
            checked <Moment at={check.checkedAt} />
          </p>
        )}
        {error !== undefined && (
          <p role="alert" className="text-failed">
            {error.message} {error.suggestion}
          </p>
        )}
      </td>
      <td className="mono whitespace-nowrap">
        {installed?.version}
        {of !== undefined && of.version !== installed?.version && <p className="text-muted">pinned {of.version}</p>}
      </td>
      <td>{agentAsks(agent)}</td>
      <td>{agentReports(agent)}</td>
      <td className="agent-levers">
        {job !== undefined && isOperator && (
          <Lever
            words="Cancel"
            of={`the ${job.kind === 'add' ? 'installation' : 'check'} of ${title}`}
            isBusy={isBusy}
            onPress={() => act(() => client.cancelAgentJob(id))}
          />
        )}
        {job === undefined && isOwner && of !== undefined && installed?.from !== 'data directory' && (
          <Lever words="Add" of={title} isBusy={isBusy} onPress={() => act(() => client.addAgent(id))} />
        )}
        {job === undefined && isOwner && installed?.from === 'data directory' && installed.version !== of?.version && (
          <Lever words="Update" of={title} isBusy={isBusy} onPress={() => act(() => client.addAgent(id))} />
        )}
        {job === undefined && isOperator && installed !== undefined && (
          <Lever words="Check" of={title} isBusy={isBusy} onPress={() => act(() => client.checkAgent(id))} />
        )}
        {job === undefined && isOwner && installed?.from === 'data directory' && (
          <Lever words="Remove…" of={title} isBusy={isBusy} isDangerous onPress={() => setAsks(true)} />
        )}
        {asks && (
          <RemoveDialog
            title={title}
            onRemove={() => act(() => client.removeAgent(id))}
            onClose={() => setAsks(false)}
          />
        )}
      </td>
    </tr>
  );
}

/** As a sentence, whether it came with its full stop or not. */
function ended(words: string | undefined): readonly string[] {
  if (words === undefined || words === '') return [];
  return [/[.!?…]$/.test(words) ? words : `${words}.`];
}

interface LeverProps {
  readonly words: string;
  /** What it acts on, for screen readers. */
  readonly of: string;
  readonly isBusy: boolean;
  readonly isDangerous?: boolean;
  onPress(): void;
}

function Lever({ words, of, isBusy, isDangerous = false, onPress }: LeverProps) {
  return (
    <button
      type="button"
      className={`button button-small ${isDangerous ? 'button-danger' : ''}`}
      disabled={isBusy}
      onClick={onPress}
    >
      {words}
      <span className="sr-only"> {of}</span>
    </button>
  );
}

function JobProgress({ agent: { title }, job: { by, startedAt, progress } }: JobProgressProps) {
  return (
    <>
      {progress !== undefined && (
        <progress aria-label={`Installation of ${title}`} value={progress.done} max={Math.max(1, progress.of)} />
      )}
      <p className="text-muted">
        {progress !== undefined && `${progress.done} of ${progress.of} packages unpacked, `}
        {by} started it <Moment at={startedAt} />
      </p>
    </>
  );
}

interface JobProgressProps {
  readonly agent: WireAgent;
  readonly job: NonNullable<WireAgent['job']>;
}

interface RemoveDialogProps {
  readonly title: string;
  onRemove(): void;
  onClose(): void;
}

function RemoveDialog({ title, onRemove, onClose }: RemoveDialogProps) {
  return (
    <Dialog title={`Remove ${title}?`} onClose={onClose}>
      <p>Its program is deleted from the data directory. Runs that use it now fail. It can be added again.</p>
      <div className="dialog-foot">
        <button type="button" className="button" onClick={onClose}>
          Keep it
        </button>
        <button
          type="button"
          className="button button-stop"
          onClick={() => {
            onClose();
            onRemove();
          }}
        >
          Remove
        </button>
      </div>
    </Dialog>
  );
}
