import type { RunId } from '@signalbox/model';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useClient } from '../server/client-context.ts';
import { useLive } from '../server/live.tsx';
import { useRead } from '../server/use-read.ts';
import { takeToken } from '../session.ts';
import { CopyButton } from '../shell/copy-button.tsx';
import { JsonView } from '../shell/json-view.tsx';
import { Empty, ErrorBox } from '../shell/notices.tsx';
import { Panel } from '../shell/panel.tsx';

const route = getRouteApi('/developer');
const documents = [
  ['/api/openapi.json', 'OpenAPI: every route, with its schemas', 'openapi.json'],
  ['/metrics', 'Metrics, as Prometheus reads them', 'metrics.txt'],
] as const;

/** For those who build on the server: what it answers, as it answers it. */
export function DeveloperPage() {
  const client = useClient();
  const { runs = [] } = useLive();
  const { run } = route.useSearch();
  const navigate = route.useNavigate();
  const { data, error, refetch, isFetching } = useRead(['raw', run], () => client.run(run as RunId), {
    isEnabled: run !== undefined,
  });
  return (
    <div className="room">
      <title>Developer · Signalbox</title>
      <div className="roomhead">
        <h1>Developer</h1>
        <p className="text-muted">What the server answers, as it answers it.</p>
      </div>
      <div className="flex flex-col gap-4">
        <Panel title="Documents of the server">
          <ul className="sources">
            {documents.map(([address, about, name]) => (
              <Document key={address} address={address} about={about} name={name} />
            ))}
          </ul>
        </Panel>
        <Panel title="A run as JSON">
          <div className="tools-line">
            <select
              className="field"
              aria-label="Run"
              value={run ?? ''}
              onChange={event =>
                void navigate({ search: event.target.value === '' ? {} : { run: event.target.value }, replace: true })
              }
            >
              <option value="">choose a run…</option>
              {runs.map(({ id, record }) => (
                <option key={id} value={id}>
                  {record.name} {id.slice(-8)}
                </option>
              ))}
            </select>
            {data !== undefined && (
              <>
                <button type="button" className="button button-small" disabled={isFetching} onClick={() => refetch()}>
                  Read again
                </button>
                <CopyButton text={JSON.stringify(data, null, 2)} label="Copy the JSON of the run" />
              </>
            )}
          </div>
          {run === undefined ? (
            <Empty title="Choose a run to see what GET /api/runs/:run answers" />
          ) : error !== null ? (
            <ErrorBox error={error} title="The run could not be read" />
          ) : data === undefined ? (
            <Empty title="Reading…" />
          ) : (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached with the keyboard
            <div className="form-text" tabIndex={0}>
              <JsonView value={data as never} className="code code-whole" />
            </div>
          )}
        </Panel>
      </div>
    </div>
  );
}

interface DocumentProps {
  readonly address: string;
  readonly about: string;
  readonly name: string;
}

/** Fetched with the token, which a plain link cannot carry, and shown as text. */
function Document({ address, about, name }: DocumentProps) {
  const [text, setText] = useState<string>();
  const read = async () => {
    try {
      const answer = await fetch(address, { headers: { authorization: `Bearer ${takeToken() ?? ''}` } });
      setText(answer.ok ? await answer.text() : `The server answered ${answer.status}.`);
    } catch {
      setText('The server does not answer.');
    }
  };
  return (
    <li className="flex-col">
      <div className="flex flex-wrap items-center gap-2">
        <code>GET {address}</code> <span className="text-muted">{about}</span>
        <button type="button" className="button button-small" onClick={read} aria-label={`Read ${name}`}>
          {text === undefined ? 'Read' : 'Read again'}
        </button>
        {text !== undefined && <CopyButton text={text} label={`Copy ${name}`} />}
      </div>
      {text !== undefined && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached with the keyboard
        <section aria-label={name} className="form-text" tabIndex={0}>
          <JsonView value={text} className="code code-whole" />
        </section>
      )}
    </li>
  );
}
