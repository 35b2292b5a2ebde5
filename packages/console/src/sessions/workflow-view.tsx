import type { Json, SessionId, WorkflowForms } from '@signalbox/model';
import { Suspense, useState } from 'react';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { JsonView } from '../shell/json-view.tsx';
import { lazyPart } from '../shell/lazy-part.ts';
import { Empty, ErrorBox } from '../shell/notices.tsx';
import { StartSession } from './start-session.tsx';
import { WorkflowCopy } from './workflow-copy.tsx';

const SideBySide = lazyPart(() =>
  import('../decisions/side-by-side.tsx').then(({ SideBySide: component }) => ({ default: component })),
);

const WorkflowEditor = lazyPart(() =>
  import('./workflow-editor.tsx').then(({ WorkflowEditor: component }) => ({ default: component })),
);

interface WorkflowViewProps {
  readonly workflow: string;
  /** A run's pinned version, for comparison. */
  readonly pinned: string | undefined;
  onStarted(session: SessionId): void;
  onCopied(workflow: string): void;
}

/** A workflow: what an agent sees before the start, and the source, compiled and pinned forms side by side. */
export function WorkflowView({ workflow, pinned, onStarted, onCopied }: WorkflowViewProps) {
  const client = useClient();
  const described = useRead(['workflow', workflow], () => client.workflow(workflow));
  const forms = useRead(['forms', workflow, pinned], () => client.workflowForms(workflow, pinned));
  const { data } = described;
  const again = () => {
    void described.refetch();
    void forms.refetch();
  };
  if (described.error !== null && forms.error !== null) {
    return <ErrorBox error={described.error} title="Could not load this workflow" />;
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
              <h3 className="eyebrow">Preconditions</h3>
              <ul className="list-disc pl-5">
                {data.preconditions.map(one => (
                  <li key={one}>{one}</li>
                ))}
              </ul>
            </section>
          )}
          {data.clarificationPrompts.length > 0 && (
            <section>
              <h3 className="eyebrow">Questions before the start</h3>
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
      {forms.error !== null && <ErrorBox error={forms.error} title="Could not load its source" />}
      {forms.data !== undefined && (
        <Change workflow={workflow} forms={forms.data} onChanged={again} onCopied={onCopied} />
      )}
      {forms.data !== undefined && <Forms forms={forms.data} />}
    </article>
  );
}

interface ChangeProps {
  readonly workflow: string;
  readonly forms: WorkflowForms;
  onChanged(): void;
  onCopied(workflow: string): void;
}

/** People change sources, never what was compiled from them; a bundled workflow is copied first. */
function Change({ workflow, forms: { source }, onChanged, onCopied }: ChangeProps) {
  const [isEdited, setIsEdited] = useState(false);
  if (source === undefined) return null;
  const isOwn = source.kind !== 'bundled';
  return (
    <section className="flex flex-col gap-2">
      <h3 className="eyebrow">Change it</h3>
      {isOwn && (
        <button
          type="button"
          className="button self-start"
          aria-expanded={isEdited}
          onClick={() => setIsEdited(!isEdited)}
        >
          {isEdited ? 'Close the editor' : 'Edit the source'}
        </button>
      )}
      {isOwn && isEdited && (
        <Suspense fallback={<Empty title="Opening the editor…" />}>
          <WorkflowEditor workflow={workflow} source={source} onChanged={onChanged} />
        </Suspense>
      )}
      {!isOwn && <p className="text-muted">It comes with the program and stays as it is. Copy it to change it.</p>}
      <WorkflowCopy workflow={workflow} onCopied={onCopied} />
    </section>
  );
}

/** The origin of a step that its author did not write. */
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
  if (drift === 'none') return <p className="text-muted">A run is pinned to its current version.</p>;
  return (
    <section className="flex flex-col gap-2">
      <p role="status" className="streak">
        {drift === 'gone'
          ? 'Its source is gone or does not compile. Pinned runs continue with their version.'
          : pinned === undefined
            ? 'The pinned version of the run is not in this data directory.'
            : 'Its source has changed since the run was pinned: pinned version on the left, current one on the right.'}
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
          about={source === undefined ? 'file not found' : `${source.kind}, ${source.ref}`}
          content={source?.content}
        />
        <Form
          name="Compiled"
          about={compiled === undefined ? 'does not compile' : shortHash(compiled.workflowHash)}
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
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be reachable with the keyboard
        <div className="form-text" tabIndex={0}>
          <JsonView value={content} className="code code-whole" />
        </div>
      )}
    </section>
  );
}

const textOf = (content: Json): string => JSON.stringify(content, null, 2);
const shortHash = (hash: string): string => `${hash.slice(0, 'sha256:'.length + 12)}…`;
