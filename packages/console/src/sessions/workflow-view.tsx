import { Empty, ErrorBox } from '../frame/notices.tsx';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';

/** A workflow as an agent sees it before it starts. */
export function WorkflowView({ workflow }: { readonly workflow: string }) {
  const client = useClient();
  const { data, error } = useRead(['workflow', workflow], () => client.workflow(workflow));
  if (error !== null) return <ErrorBox error={error} title="This workflow cannot be shown" />;
  if (data === undefined) return <Empty title="Reading…" />;
  return (
    <article className="desk" aria-label={workflow}>
      <header>
        <p className="eyebrow">
          {data.sourceKind} · version {data.version}
        </p>
        <h2>{workflow}</h2>
      </header>
      <p className="max-w-[72ch] whitespace-pre-wrap">{data.description}</p>
      {data.preconditions.length > 0 && (
        <section>
          <h3 className="eyebrow">Wants before it starts</h3>
          <ul className="list-disc pl-5">
            {data.preconditions.map(one => (
              <li key={one}>{one}</li>
            ))}
          </ul>
        </section>
      )}
      <section>
        <h3 className="eyebrow">Steps</h3>
        <ol className="steps">
          {data.steps?.map(({ stepId, title, kind, loops }) => (
            <li key={stepId}>
              <i aria-hidden="true" />
              <span>{title}</span>
              <span className="kind">{kind}</span>
              {loops.length > 0 && <span className="turn">in {loops.join(' › ')}</span>}
            </li>
          ))}
        </ol>
      </section>
    </article>
  );
}
