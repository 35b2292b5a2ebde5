import type { JsonObject } from '@signalbox/model';
import { count, known, member, most, name, objectAt, type Wire } from './wire.ts';

const CALL = /\/models\/([^/:]+):(?:generateContent|streamGenerateContent)$/;

/** Google reads either spelling of a name. */
const settings = (body: JsonObject, ...names: readonly string[]) =>
  ['generationConfig', 'generation_config'].flatMap(config => names.map(each => member(body, config, each)));

/** Google's generateContent. Thoughts are output; a stream has no event that is known to be the last. */
export const google: Wire = {
  call(path) {
    const model = CALL.exec(path)?.[1];
    return model === undefined ? undefined : { model: decodeURIComponent(model) };
  },
  maxOutput: body => most(...settings(body, 'maxOutputTokens', 'max_output_tokens')),
  answers: body => most(...settings(body, 'candidateCount', 'candidate_count')) ?? 1,
  told(before, data) {
    const usage = objectAt(data, 'usageMetadata');
    if (usage === undefined) return before;
    const [answer, thoughts] = [count(usage.candidatesTokenCount), count(usage.thoughtsTokenCount)];
    const output = answer === undefined && thoughts === undefined ? undefined : (answer ?? 0) + (thoughts ?? 0);
    return {
      ...before,
      ...known({
        model: name(data.modelVersion),
        input: count(usage.promptTokenCount),
        output,
        cached: count(usage.cachedContentTokenCount),
        cacheWrite: undefined,
      }),
    };
  },
  endMarks: [],
  isLast: () => false,
  refusal: (status, message) => ({
    error: { code: status, message, status: STATUSES[status] ?? 'INVALID_ARGUMENT' },
  }),
};

const STATUSES: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  402: 'FAILED_PRECONDITION',
  403: 'PERMISSION_DENIED',
  429: 'RESOURCE_EXHAUSTED',
  502: 'UNAVAILABLE',
};
