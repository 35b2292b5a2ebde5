import type { Json, SessionId, WorkflowForms } from '@signalbox/model';
import { lazy, Suspense } from 'react';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { JsonView } from '../shell/json-view.tsx';
import { Empty, ErrorBox } from '../shell/notices.tsx';
import { StartSession } from './start-session.tsx';

const SideBySide = lazy(() =>
  import('../decisions/side-by-side.tsx').then(({ SideBySide: component }) => ({ default: component })),
);

interface WorkflowViewProps {
  readonly workflow: string;
  /** What a run is pinned to, to be held against it. */
  readonly pinned: string | undefined;
  onStarted(session: SessionId): void;
}

/** A workflow: what an agent sees before it starts, and what was written, compiled and pinned, side by side. */
export function WorkflowView({ workflow, pinned, onStarted }: WorkflowViewProps) {
  const client = useClient();
  const described = useRead(['workflow', workflow], () => client.workflow(workflow));
  const forms = useRead(['forms', workflow, pinned], () => client.workflowForms(workflow, pinned));
  const { data } = described;
  if (described.error !== null && forms.error !== null) {
    return <ErrorBox error={described.error} title="This workflow cannot be shown" />;
  }
  return (
    <article className="desk" aria-label={workflow}>
      <header>
        <p className="eyebrow">{data === undefined ? '…' : `${data.sourceKind} · version ${data.version}`}</p>
        <h2>{workflow}</h2>
      </header>
      {described.error !== null && <ErrorBox error={described.error} title="It cannot be started" />}
      {forms.data?.drift !== undefined && <Drift forms={forms.data} />}
      {data !== undefined && (
        <>
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
          {data.clarificationPrompts.length > 0 && (
            <section>
              <h3 className="eyebrow">An agent asks you first</h3>
              <ul className="list-disc pl-5">
                {data.clarificationPrompts.map(one => (
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
                  <From forms={forms.data} step={stepId} />
                </li>
              ))}
            </ol>
          </section>
          <StartSession key={workflow} workflow={workflow} source={forms.data?.source?.content} onStarted={onStarted} />
        </>
      )}
      {forms.error !== null && <ErrorBox error={forms.error} title="Its source cannot be shown" />}
      {forms.data !== undefined && <Forms forms={forms.data} />}
    </article>
  );
}

/** Where a step is from, if its author did not write it. */
function From({ forms, step }: { readonly forms: WorkflowForms | undefined; readonly step: string }) {
  const provenance = forms?.compiled?.steps.find(({ stepId }) => stepId === step)?.provenance;
  if (provenance === undefined || provenance.source === 'authored') return null;
  const what = provenance.source === 'template_injected' ? 'template' : 'feature';
  return (
    <span className="text-muted">
      from the {what} {provenance.originId}
    </span>
  );
}

function Drift({ forms: { drift, pinned, compiled } }: { readonly forms: WorkflowForms }) {
  if (drift === 'none') return <p className="text-muted">A run is pinned to it as it is now.</p>;
  return (
    <section className="flex flex-col gap-2">
      <p role="status" className="streak">
        {drift === 'gone'
          ? 'Its source is gone or does not compile. Runs that are pinned to it go on with what they have.'
          : pinned === undefined
            ? 'What the run is pinned to is not in this data directory.'
            : 'Its source has changed since the run was pinned: on the left as it is pinned, on the right as it compiles now.'}
      </p>
      {pinned !== undefined && compiled !== undefined && (
        <Suspense fallback={<Empty title="Comparing…" />}>
          <div className="change">
            <SideBySide before={textOf(pinned.content)} after={textOf(compiled.content)} />
          </div>
        </Suspense>
      )}
    </section>
  );
}

function Forms({ forms: { source, compiled, pinned, problems } }: { readonly forms: WorkflowForms }) {
  return (
    <section>
      <h3 className="eyebrow">Source, compiled and pinned</h3>
      {problems.map(({ code, path, message }) => (
        <div key={`${code} ${path}`} className="errorbox my-2">
          <pre className="errorbox-words">
            {path}: {message}
          </pre>
          <code>{code}</code>
        </div>
      ))}
      <div className="forms">
        <Form
          name="Source"
          about={source === undefined ? 'there is no such file' : `${source.kind}, ${source.ref}`}
          content={source?.content}
        />
        <Form
          name="Compiled"
          about={compiled === undefined ? 'it does not compile' : shortHash(compiled.workflowHash)}
          content={compiled?.content}
        />
        {pinned !== undefined && <Form name="Pinned" about={shortHash(pinned.workflowHash)} content={pinned.content} />}
      </div>
    </section>
  );
}

interface FormProps {
  readonly name: string;
  readonly about: string;
  readonly content: Json | undefined;
}

function Form({ name, about, content }: FormProps) {
  return (
    <section aria-label={name} className="form-of">
      <header>
        <strong>{name}</strong> <span className="mono text-muted">{about}</span>
      </header>
      {content !== undefined && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached with the keyboard
        <div className="form-text" tabIndex={0}>
          <JsonView value={content} className="code code-whole" />
        </div>
      )}
    </section>
  );
}

const textOf = (content: Json): string => JSON.stringify(content, null, 2);
const shortHash = (hash: string): string => `${hash.slice(0, 'sha256:'.length + 12)}…`;
