import type { Answer } from '@signalbox/client';
import { type Json, ok, type WorkflowCheck, type WorkflowForms } from '@signalbox/model';
import { Suspense, useEffect, useId, useRef, useState } from 'react';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { readJson } from '../shell/json-field.tsx';
import { lazyPart } from '../shell/lazy-part.ts';
import { Empty, ErrorBox } from '../shell/notices.tsx';
import { useCommand } from '../shell/use-command.ts';
import { sourceFields, withField } from './source-fields.ts';

const SideBySide = lazyPart(() =>
  import('../decisions/side-by-side.tsx').then(({ SideBySide: component }) => ({ default: component })),
);

type Source = NonNullable<WorkflowForms['source']>;

interface WorkflowEditorProps {
  readonly workflow: string;
  /** The file as it is now; it may change while it is edited here. */
  readonly source: Source;
  /** The file was written, or should be read again. */
  onChanged(): void;
}

/** Edits the source of a workflow: checked while it is typed, saved only over the bytes that were read. */
export function WorkflowEditor({ workflow, source, onChanged }: WorkflowEditorProps) {
  const client = useClient();
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const { isBusy, error, send } = useCommand();
  /** What the text was made from. */
  const [base, setBase] = useState(source);
  const [text, setText] = useState(() => textOf(source.content));
  /** The digest of the file that the last save replaced. */
  const [replaced, setReplaced] = useState<string>();
  const [isCompared, setIsCompared] = useState(false);
  const read = readJson(text);
  const check = useCheck(read.ok ? read.value : undefined);
  const isChanged = text !== textOf(base.content);
  // Until the file was read again after a save, the page has it as it was before.
  const isElsewhere = source.digest !== base.digest && source.digest !== replaced;
  const isFit = read.ok && check?.workflowHash !== undefined;

  async function save() {
    if (!read.ok || read.value === undefined) return;
    const { value } = read;
    await send(async () => {
      const saved = await client.saveWorkflow(workflow, { source: value, over: base.digest });
      if (saved.ok) {
        setReplaced(base.digest);
        setBase({ ...base, digest: saved.value.digest, content: value });
        setText(textOf(value));
        onChanged();
      }
      return saved;
    });
  }

  function load() {
    setReplaced(undefined);
    setBase(source);
    setText(textOf(source.content));
  }

  function put(name: string) {
    const put = withField(text, field.current?.selectionStart ?? text.length, name);
    setText(put.text);
    requestAnimationFrame(() => {
      field.current?.focus();
      field.current?.setSelectionRange(put.cursor, put.cursor);
    });
  }

  return (
    <section className="flex flex-col gap-2" aria-label={`Source of ${workflow}`}>
      {isElsewhere && (
        <p role="status" className="streak">
          The file has changed since it was read here.{' '}
          <button type="button" className="button" onClick={load}>
            Load it
          </button>
        </p>
      )}
      <div className="jsonfield">
        <label htmlFor={id}>Source</label>
        <textarea
          ref={field}
          id={id}
          className="workflow-source"
          rows={24}
          spellCheck={false}
          aria-invalid={!isFit}
          aria-describedby={`${id}-said`}
          value={text}
          onChange={event => setText(event.target.value)}
        />
      </div>
      <div id={`${id}-said`} role="status">
        {!read.ok ? <p>Not JSON: {read.why}.</p> : <Checked check={check} />}
      </div>
      <Fields onField={put} />
      {error !== undefined && <ErrorBox error={error} title="Could not save the workflow" />}
      {error?.code === 'workflow/changed' && !isElsewhere && (
        <button type="button" className="button self-start" onClick={onChanged}>
          Read the file again
        </button>
      )}
      <div className="flex gap-2">
        <button type="button" className="button button-go" disabled={isBusy || !isChanged || !isFit} onClick={save}>
          Save
        </button>
        <button type="button" className="button" disabled={!isChanged} onClick={() => setIsCompared(!isCompared)}>
          {isCompared ? 'Hide changes' : 'Show changes'}
        </button>
      </div>
      {isCompared && isChanged && (
        <Suspense fallback={<Empty title="Comparing…" />}>
          <div className="change">
            <SideBySide before={textOf(base.content)} after={text} />
          </div>
        </Suspense>
      )}
    </section>
  );
}

/** The server's check of a source: one at a time, always of the latest text. Undefined until the first one. */
function useCheck(source: Json | undefined): WorkflowCheck | undefined {
  const client = useClient();
  const [check, setCheck] = useState<WorkflowCheck>();
  const latest = useRef<{ source: Json | undefined; isBusy: boolean }>({ source, isBusy: false });
  const text = JSON.stringify(source);
  useEffect(() => {
    latest.current.source = source;
    // What was said of an earlier text does not hold of this one.
    setCheck(undefined);
    if (latest.current.isBusy || source === undefined) return;
    latest.current.isBusy = true;
    void (async () => {
      for (;;) {
        const asked = latest.current.source;
        if (asked === undefined) break;
        const checked = await client.checkWorkflow({ source: asked });
        if (asked !== latest.current.source) continue;
        if (checked.ok) setCheck(checked.value);
        break;
      }
      latest.current.isBusy = false;
    })();
  }, [text, client]);
  return check;
}

function Checked({ check }: { readonly check: WorkflowCheck | undefined }) {
  if (check === undefined) return <p className="text-muted">Checking…</p>;
  const { problems, workflowHash } = check;
  return (
    <>
      <p className={workflowHash === undefined ? undefined : 'text-muted'}>
        {workflowHash === undefined ? 'It cannot be run.' : `It can be run: ${workflowHash.slice(0, 19)}…`}
      </p>
      {problems.length > 0 && (
        <ul className="list-disc pl-5">
          {problems.map(({ severity, code, path, message, suggestion }) => (
            <li key={`${code} ${path} ${message}`}>
              <strong>{severity === 'error' ? 'Error' : 'Warning'}</strong> <code>{path || '/'}</code> {message}{' '}
              <span className="text-muted">{suggestion}</span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** It needs no token: editors read it too. */
async function readSchema(): Answer<Json> {
  const answered = await fetch('/api/workflow.schema.json');
  return ok((await answered.json()) as Json);
}

/** What the schema of workflow files knows, to be put in at the cursor. */
function Fields({ onField }: { onField(name: string): void }) {
  const schema = useRead(['workflow-schema'], readSchema);
  const fields = schema.data === undefined ? [] : sourceFields(schema.data);
  return (
    <details>
      <summary>Fields</summary>
      {(['workflow', 'step'] as const).map(of => (
        <section key={of} aria-label={`Fields of a ${of}`}>
          <h4 className="eyebrow">Of a {of}</h4>
          <dl className="workflow-fields">
            {fields
              .filter(each => each.of === of)
              .map(({ name, meaning, isNeeded }) => (
                <div key={name}>
                  <dt>
                    <button
                      type="button"
                      className="button mono"
                      title={`Put ${name} in at the cursor`}
                      onClick={() => onField(name)}
                    >
                      {name}
                    </button>
                  </dt>
                  <dd>
                    {isNeeded && <strong>Needed. </strong>}
                    {meaning}
                  </dd>
                </div>
              ))}
          </dl>
        </section>
      ))}
    </details>
  );
}

const textOf = (content: Json): string => `${JSON.stringify(content, null, 2)}\n`;
