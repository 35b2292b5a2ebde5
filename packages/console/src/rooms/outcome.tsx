import type { Client } from '@signalbox/client';
import type { Json, RunId } from '@signalbox/model';
import { useEffect, useState } from 'react';

/** What a completed run gave back. */
export function Outcome({ client, run }: { readonly client: Client; readonly run: RunId }) {
  const [output, setOutput] = useState<Json>();
  useEffect(() => {
    let isOver = false;
    void client.run(run).then(read => {
      if (read.ok && !isOver) setOutput(read.value.output);
    });
    return () => {
      isOver = true;
    };
  }, [client, run]);
  if (output === undefined || output === null) return null;
  return (
    <section aria-labelledby="output-title" className="panel">
      <h2 id="output-title">Output</h2>
      <pre className="outcome">{typeof output === 'string' ? output : JSON.stringify(output, null, 1)}</pre>
    </section>
  );
}
