import { defined, type RunSnapshot, type StartBody } from '@signalbox/model';
import { readJson } from '../shell/json-field.tsx';

/** A start as a person types it. */
export interface StartForm {
  readonly file: string;
  readonly input: string;
  readonly name: string;
  readonly tags: string;
  readonly correlation: string;
  readonly directory: string;
  readonly key: string;
  readonly dollars: string;
  readonly minutes: string;
  readonly tokens: string;
  readonly calls: string;
  readonly retries: string;
}

export const emptyForm: StartForm = {
  file: '',
  input: '',
  name: '',
  tags: '',
  correlation: '',
  directory: '',
  key: '',
  dollars: '',
  minutes: '',
  tokens: '',
  calls: '',
  retries: '',
};

/** What the server is asked for; undefined while the form is not one. A field that is left empty is not sent. */
export function startBodyOf(form: StartForm): StartBody | undefined {
  const input = readJson(form.input);
  if (!input.ok || form.file.trim() === '') return undefined;
  const tags = form.tags
    .split(',')
    .map(tag => tag.trim())
    .filter(Boolean);
  const limits = {
    ...(form.dollars !== '' && { maxCostMicroUsd: Math.round(Number(form.dollars) * 1e6) }),
    ...(form.minutes !== '' && { maxWallClockMs: Math.round(Number(form.minutes) * 60_000) }),
    ...(form.tokens !== '' && { maxTotalTokens: Math.round(Number(form.tokens)) }),
    ...(form.calls !== '' && { maxToolCalls: Math.round(Number(form.calls)) }),
    ...(form.retries !== '' && { maxRetriesPerTask: Math.round(Number(form.retries)) }),
  };
  return {
    file: form.file.trim(),
    ...defined({ input: input.value }),
    ...(form.name.trim() !== '' && { name: form.name.trim() }),
    ...(tags.length > 0 && { tags }),
    ...(form.correlation !== '' && { correlationId: form.correlation }),
    ...(form.directory !== '' && { directory: form.directory }),
    ...(Object.keys(limits).length > 0 && { limits }),
  };
}

/** The values of an earlier run. Its key is not among them: it would answer that run. */
export function startFormOf({ record, input }: Pick<RunSnapshot, 'record' | 'input'>): StartForm {
  const { limits } = record;
  return {
    ...emptyForm,
    file: record.entry ?? '',
    input: input === null ? '' : JSON.stringify(input, null, 2),
    name: record.name,
    tags: record.tags.join(', '),
    correlation: record.correlationId ?? '',
    dollars: limits.maxCostMicroUsd === undefined ? '' : String(limits.maxCostMicroUsd / 1e6),
    minutes: limits.maxWallClockMs === undefined ? '' : String(limits.maxWallClockMs / 60_000),
    tokens: String(limits.maxTotalTokens ?? ''),
    calls: String(limits.maxToolCalls ?? ''),
    retries: String(limits.maxRetriesPerTask ?? ''),
  };
}
