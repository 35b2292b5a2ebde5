import type { Json } from '@signalbox/model';
import { Empty } from '../frame/notices.tsx';

/** Durable state, key by key. Values are texts: nothing of them is rendered as anything else. */
export function StateTable({ state }: { readonly state: Readonly<Record<string, Json>> | undefined }) {
  if (state === undefined) return <Empty title="Reading…" />;
  const entries = Object.entries(state);
  if (entries.length === 0) return <Empty title="No state is kept yet" />;
  return (
    <table className="state">
      <thead className="sr-only">
        <tr>
          <th scope="col">Key</th>
          <th scope="col">Value</th>
        </tr>
      </thead>
      <tbody>
        {entries.map(([key, value]) => (
          <tr key={key}>
            <th scope="row">{key}</th>
            <td>
              <pre>{JSON.stringify(value, null, 1)}</pre>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
