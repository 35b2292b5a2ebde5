import type { Json, Settings } from '@signalbox/model';
import { Link } from '@tanstack/react-router';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { Lamp } from '../shell/lamp.tsx';
import { Moment } from '../shell/moment.tsx';
import { Empty, ErrorBox } from '../shell/notices.tsx';
import { Panel } from '../shell/panel.tsx';
import { many } from '../story/words.ts';
import { Agents } from './agents.tsx';
import { Limits } from './limits.tsx';
import { Users } from './users.tsx';

/** The server's settings. Most are changed in their files, and only shown here. */
export function ServerSettings() {
  const client = useClient();
  const { data, error, refetch, isFetching } = useRead(['settings'], () => client.settings(), { keeps: true });
  if (error !== null && data === undefined) {
    const isNone = error.code === 'request/unknown-route';
    return isNone ? null : <ErrorBox error={error} title="Could not load the server settings" />;
  }
  if (data === undefined) return <Empty title="Loading…" />;
  return (
    <>
      <div className="roomhead">
        <h2 className="text-[15px] font-semibold">The server</h2>
        <p className="text-muted">
          Started <Moment at={data.startedAt} />. You are {data.user.name}, with the role {data.user.role}.
        </p>
        <button type="button" className="button button-small ml-auto" disabled={isFetching} onClick={() => refetch()}>
          Reload
        </button>
      </div>
      {data.needsRestart && (
        <p role="status" className="streak">
          Some settings apply after a restart: desired and applied values differ below.
        </p>
      )}
      <Configuration settings={data} />
      <ProviderKeys settings={data} />
      <Limits role={data.user.role} />
      <Agents role={data.user.role} />
      <ToolPolicies settings={data} />
      <Retention settings={data} />
      {data.user.role === 'owner' && <Users />}
    </>
  );
}

function Configuration({ settings: { sources, items } }: { readonly settings: Settings }) {
  return (
    <Panel title="Configuration: desired and applied">
      <div className="table-box">
        <table className="facts-table">
          <thead>
            <tr>
              <th>setting</th>
              <th>desired</th>
              <th>applied</th>
              <th>from</th>
            </tr>
          </thead>
          <tbody>
            {items.map(({ name, about, desired, applied, from, needsRestart }) => (
              <tr key={name} data-restart={needsRestart || undefined}>
                <th scope="row">
                  <code>{name}</code>
                  <p className="text-muted">{about}</p>
                </th>
                <td>
                  {desired === undefined ? 'cannot be read' : <Value of={desired} />}
                  {needsRestart && <p className="text-failed">needs a restart</p>}
                </td>
                <td>
                  <Value of={applied} />
                </td>
                <td className="text-muted">{from}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <h3 className="eyebrow px-3 pt-3">Sources</h3>
      <ul className="sources">
        {sources.map(({ kind, name, about, isThere, problem }) => (
          <li key={`${kind} ${name}`}>
            <Lamp signal={problem !== undefined ? 'failed' : isThere ? 'done' : 'idle'} />
            <span className="min-w-0">
              <code className="break-anywhere">{name}</code> <span className="kind">{kind}</span>{' '}
              <span className="text-muted">
                {about}
                {!isThere && ' (missing)'}
              </span>
              {problem !== undefined && <pre className="errorbox-words text-failed">{problem}</pre>}
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function ProviderKeys({ settings: { providers } }: { readonly settings: Settings }) {
  return (
    <Panel title="Providers and keys" aside={<Link to="/">health</Link>}>
      {providers.length === 0 ? (
        <Empty title="No providers known" />
      ) : (
        <div className="table-box">
          <table className="facts-table">
            <thead>
              <tr>
                <th>provider</th>
                <th>key</th>
                <th>address</th>
              </tr>
            </thead>
            <tbody>
              {providers.map(({ name, key, baseUrl, baseUrlName }) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  <td>
                    {key === undefined ? (
                      <span className="text-muted">no key needed</span>
                    ) : (
                      <>
                        <code>{key.name}</code> {key.isSet ? 'is set' : <span className="text-muted">is not set</span>}
                      </>
                    )}
                  </td>
                  <td>
                    {baseUrl !== undefined && <code className="break-anywhere">{baseUrl}</code>}
                    {baseUrlName !== undefined && (
                      <p className="text-muted">
                        overridden by <code>{baseUrlName}</code>
                      </p>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <p className="px-3 py-2 text-muted">Keys are references: their values are never sent here.</p>
    </Panel>
  );
}

const asksWords = { always: 'always', gated: 'in gated nodes', never: 'never' } as const;
const effectWords = {
  none: 'changes nothing',
  'read-only': 'reads files',
  files: 'changes files',
  external: 'acts outside',
} as const;

function ToolPolicies({ settings: { tools } }: { readonly settings: Settings }) {
  return (
    <Panel title="Tools and approvals">
      <div className="table-box">
        <table className="facts-table">
          <thead>
            <tr>
              <th>tool</th>
              <th>risk</th>
              <th>does</th>
              <th>asks</th>
            </tr>
          </thead>
          <tbody>
            {tools.map(({ tool, about, risk, effects, asks }) => (
              <tr key={tool}>
                <th scope="row">
                  <code>{tool}</code>
                  <p className="text-muted">{about}</p>
                </th>
                <td>{risk}</td>
                <td>{effectWords[effects]}</td>
                <td>{asksWords[asks]}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

function Retention({ settings: { retention } }: { readonly settings: Settings }) {
  const after = (days: number | null) => (days === null ? 'never' : `after ${many(days, 'day')}`);
  return (
    <Panel title="Retention">
      {retention === undefined ? (
        <p className="px-3 py-2 text-failed">The configuration is invalid: nothing is collected until it is fixed.</p>
      ) : (
        <dl className="retention">
          <div>
            <dt>Frames of runs that ended are collapsed</dt>
            <dd>{after(retention.collapseAfterDays)}</dd>
          </div>
          <div>
            <dt>Runs that ended are removed</dt>
            <dd>{after(retention.removeAfterDays)}</dd>
          </div>
        </dl>
      )}
      <p className="px-3 pb-2 text-muted">
        <code>signalbox gc</code> collects them; kept runs stay.
      </p>
    </Panel>
  );
}

/** A list has one line per item; other values than text and lists of text are JSON. */
function Value({ of: value }: { readonly of: Json }) {
  const lines = Array.isArray(value) && value.length > 0 ? value : [value];
  return lines.map((line, index) => (
    <p key={index}>
      <code>{line === null ? 'not set' : typeof line === 'string' ? line : JSON.stringify(line)}</code>
    </p>
  ));
}
