import type { RunId, RunSnapshot, RunSummary } from '@signalbox/model';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useClient } from '../server/client-context.ts';
import { useLive } from '../server/live.tsx';
import { useRead } from '../server/use-read.ts';
import { readJson } from '../shell/json-field.tsx';
import { ErrorBox } from '../shell/notices.tsx';
import { useCommand } from '../shell/use-command.ts';
import { EarlierRuns, KnownPlans } from '../start/earlier.tsx';
import { fieldErrorOf } from '../start/field-errors.ts';
import { PlanFiles } from '../start/plan-files.tsx';
import { PlanInput } from '../start/plan-input.tsx';
import { rememberedInput, rememberInput } from '../start/remembered-input.ts';
import { emptyForm, type StartForm, startBodyOf, startFormOf } from '../start/start-form.ts';
import { startWords as words } from '../start/start-words.ts';
import { fieldsOf } from '../story/schema-fields.ts';

const route = getRouteApi('/start');
const none: readonly RunSummary[] = [];
const HISTORY = 12;

/** The run's limits; a person is asked before it spends more. */
const limitFields = [
  ['dollars', 'any'],
  ['minutes', 'any'],
  ['tokens', '1'],
  ['calls', '1'],
  ['retries', '1'],
] as const;

/** Starts a run, new or with the values of an earlier one. */
export function StartPage() {
  const client = useClient();
  const { runs = none } = useLive();
  const { like } = route.useSearch();
  const navigate = useNavigate();
  const { isBusy, error, send } = useCommand();
  const [form, setForm] = useState<StartForm>(emptyForm);
  const put = (change: Partial<StartForm>) => setForm(before => ({ ...before, ...change }));
  const known = useRead(['plans', runs.length], () => client.plans({ limit: 200 }), { keeps: true });
  const plans = known.data?.plans ?? [];
  const allowed = useRead(['plan files'], () => client.planFiles());
  const fresh = (allowed.data?.files ?? []).filter(file => !plans.some(one => one.file === file));
  // The file is read once its name is complete, not at every letter.
  const [named, setNamed] = useState('');
  const described = useRead(['plan', named], () => client.describePlan(named), { isEnabled: named !== '' });
  const plan = named === form.file.trim() && named !== '' ? described.data : undefined;
  const fields = fieldsOf(plan?.inputSchema);
  const wrong = error && fieldErrorOf(error, fields?.map(({ name }) => name) ?? []);
  const choose = (file: string) => {
    // What was typed for this plan the last time; nothing that was typed now is lost.
    setForm(before => ({ ...before, file, ...(before.input.trim() === '' && { input: rememberedInput(file) }) }));
    setNamed(file.trim());
  };
  const isListed = (file: string) => plans.some(one => one.file === file) || fresh.includes(file);
  const history = runs
    .filter(({ kind, record }) => kind === 'plan' && (form.file === '' || record.entry === form.file))
    .slice(0, HISTORY);

  const restore = async (run: RunId) => {
    let found: RunSnapshot | undefined;
    if (
      (await send(async () => {
        const read = await client.run(run);
        if (read.ok) found = read.value;
        return read;
      })) &&
      found !== undefined
    ) {
      setForm(startFormOf(found));
      setNamed(found.record.entry ?? '');
    }
  };
  const restoreFirst = useRef(restore);
  useEffect(() => {
    if (like !== undefined) void restoreFirst.current(like as RunId);
  }, [like]);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const body = startBodyOf(form);
    if (body === undefined) return;
    let started: RunId | undefined;
    const isDone = await send(async () => {
      const run = await client.start(body, form.key === '' ? {} : { idempotencyKey: form.key });
      if (run.ok) started = run.value.id;
      return run;
    });
    if (isDone) rememberInput(body.file, form.input);
    if (isDone && started !== undefined) void navigate({ to: '/runs/$run', params: { run: started }, search: {} });
  };

  return (
    <div className="room start">
      <title>{`${words.title} · Signalbox`}</title>
      <div className="roomhead">
        <h1>{words.title}</h1>
      </div>
      <div className="start-panes">
        <form onSubmit={submit} className="form start-form">
          <label>
            {words.file}
            <input
              required
              list="plans"
              placeholder={words.filePlaceholder}
              spellCheck={false}
              className="mono"
              value={form.file}
              onChange={event => {
                put({ file: event.target.value });
                // A choice from the list is complete at once.
                if (isListed(event.target.value)) choose(event.target.value);
              }}
              onBlur={event => setNamed(event.target.value.trim())}
            />
            <datalist id="plans">
              {plans.map(({ file, name }) => (
                <option key={file} value={file} label={name} />
              ))}
              {fresh.map(file => (
                <option key={file} value={file} />
              ))}
            </datalist>
          </label>
          {described.error !== null && <ErrorBox error={described.error} title={words.unreadable} />}
          <PlanInput
            key={named}
            plan={plan}
            isReading={named !== '' && described.isLoading}
            text={form.input}
            onText={input => put({ input })}
            takesFocus={like !== undefined && named !== ''}
            errors={wrong === undefined ? {} : { [wrong.field]: wrong.why }}
          />
          <div className="form-row">
            <label>
              {words.name}
              <input maxLength={256} value={form.name} onChange={event => put({ name: event.target.value })} />
            </label>
            <label>
              {words.tags}
              <input value={form.tags} onChange={event => put({ tags: event.target.value })} />
            </label>
          </div>
          <details className="more" open={form.key !== '' || form.correlation !== '' || form.directory !== ''}>
            <summary>{words.more}</summary>
            <div className="form">
              <label>
                {words.key}
                <input maxLength={256} value={form.key} onChange={event => put({ key: event.target.value })} />
              </label>
              <label>
                {words.correlation}
                <input
                  maxLength={256}
                  value={form.correlation}
                  onChange={event => put({ correlation: event.target.value })}
                />
              </label>
              <label>
                {words.directory}
                <input
                  className="mono"
                  value={form.directory}
                  onChange={event => put({ directory: event.target.value })}
                />
              </label>
              <div className="form-row">
                {limitFields.map(([field, step]) => (
                  <label key={field}>
                    {words.limits[field]}
                    <input
                      type="number"
                      min="0"
                      step={step}
                      value={form[field]}
                      onChange={event => put({ [field]: event.target.value })}
                    />
                  </label>
                ))}
              </div>
            </div>
          </details>
          {error !== undefined && <ErrorBox error={error} title={words.failed} />}
          <div>
            <button
              type="submit"
              className="button button-main"
              disabled={isBusy || form.file === '' || !readJson(form.input).ok}
            >
              {words.start}
            </button>
          </div>
        </form>
        <div className="flex min-w-0 flex-col gap-4">
          <KnownPlans read={known} file={form.file} onFile={choose} />
          <PlanFiles files={fresh} isMore={allowed.data?.isMore === true} file={form.file} onFile={choose} />
          <EarlierRuns title={form.file === '' ? words.earlier : words.earlierOfPlan} runs={history} onRun={restore} />
        </div>
      </div>
    </div>
  );
}
