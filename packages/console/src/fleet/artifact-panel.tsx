import type { WireKnownArtifact } from '@signalbox/model';
import { useState } from 'react';
import { useClient } from '../server/client-context.ts';
import { Moment } from '../shell/moment.tsx';
import { Empty, ErrorBox } from '../shell/notices.tsx';
import { Panel } from '../shell/panel.tsx';
import { useCommand } from '../shell/use-command.ts';
import { useFleetRead } from './fleet-live.tsx';
import { asWords } from './fleet-words.ts';
import { Lever } from './lever.tsx';

interface ArtifactPanelProps {
  nameOf(agent: string): string;
  onChanged(): void;
}

/** What agents made, by workstream. A person's review changes the trust of the agent that made it. */
export function ArtifactPanel({ nameOf, onChanged }: ArtifactPanelProps) {
  const client = useClient();
  const [workstream, setWorkstream] = useState('');
  const { data } = useFleetRead(['artifacts'], () => client.knownArtifacts());
  const { isBusy, error, send } = useCommand();
  const all = data?.artifacts ?? [];
  const streams = [...new Set(all.map(artifact => artifact.workstream))].toSorted();
  const shown = all.filter(artifact => workstream === '' || artifact.workstream === workstream);
  const review = async ({ id, version }: WireKnownArtifact, status: 'approved' | 'rejected') => {
    await send(() => client.reviewArtifact(id, { status, expectedVersion: version }));
    onChanged();
  };
  return (
    <Panel
      title="Artifacts of agents"
      aside={
        <select
          className="field"
          aria-label="Workstream"
          value={workstream}
          onChange={({ target }) => setWorkstream(target.value)}
        >
          <option value="">All workstreams</option>
          {streams.map(name => (
            <option key={name}>{name}</option>
          ))}
        </select>
      }
    >
      {shown.length === 0 ? (
        <Empty title={data === undefined ? 'Loading…' : 'No artifacts yet'} />
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a table that scrolls is reached with the keyboard
        <section className="table-box fleet-table" tabIndex={0} aria-label="Artifacts by agent and status">
          <table className="facts-table">
            <thead>
              <tr>
                <th scope="col">artifact</th>
                <th scope="col">by</th>
                <th scope="col">status</th>
                <th scope="col">changed</th>
                <th scope="col">
                  <span className="sr-only">actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {shown.map(artifact => (
                <tr key={artifact.id}>
                  <th scope="row">
                    <span className="font-medium">{artifact.name}</span>{' '}
                    <span className="text-muted">
                      {artifact.kind}, version {artifact.version}
                    </span>
                    {artifact.uri !== undefined && (
                      <p>
                        <code>{artifact.uri}</code>
                      </p>
                    )}
                  </th>
                  <td>
                    {nameOf(artifact.agentId)}
                    <p className="text-muted">{artifact.workstream}</p>
                  </td>
                  <td>{asWords(artifact.status)}</td>
                  <td>
                    <Moment at={artifact.changedAt} />
                  </td>
                  <td className="fleet-levers">
                    {artifact.status !== 'approved' && (
                      <Lever
                        words="Approve"
                        of={artifact.name}
                        isBusy={isBusy}
                        onPress={() => review(artifact, 'approved')}
                      />
                    )}{' '}
                    {artifact.status !== 'rejected' && (
                      <Lever
                        words="Reject"
                        of={artifact.name}
                        isBusy={isBusy}
                        onPress={() => review(artifact, 'rejected')}
                      />
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      {error !== undefined && <ErrorBox error={error} title="Could not review the artifact" />}
    </Panel>
  );
}
