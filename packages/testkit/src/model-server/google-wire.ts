import { type Json, type JsonObject, jsonObject } from '@signalbox/model';
import * as z from 'zod';
import { type ModelAnswer, textDeltas, wholeText } from './model-script.ts';
import type { AnswerContext, Wire, WireMessage, WirePart } from './wire.ts';

const part = z.looseObject({
  text: z.string().optional(),
  thought: z.boolean().optional(),
  thoughtSignature: z.string().optional(),
  functionCall: z.looseObject({ id: z.string().optional(), name: z.string(), args: jsonObject.default({}) }).optional(),
  functionResponse: z.looseObject({ id: z.string().optional(), name: z.string(), response: jsonObject }).optional(),
});
type Part = z.infer<typeof part>;
const request = z.looseObject({
  systemInstruction: z.looseObject({ parts: z.array(part) }).optional(),
  contents: z.array(z.looseObject({ role: z.enum(['user', 'model']), parts: z.array(part) })),
  tools: z
    .array(
      z.looseObject({
        functionDeclarations: z
          .array(
            z.looseObject({
              name: z.string(),
              description: z.string().default(''),
              parameters: jsonObject.nullish(),
              parametersJsonSchema: jsonObject.nullish(),
            }),
          )
          .default([]),
      }),
    )
    .default([]),
  generationConfig: z.looseObject({ responseMimeType: z.string().optional() }).optional(),
});

const SIGNATURE = 'c2lnbmVkLWJ5LXRoZS1tb2RlbC1zZXJ2ZXI=';
const statuses: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

/** Google's generateContent and streamGenerateContent. Calls have no ids here: results match by name and position. */
export const googleWire: Wire = {
  vendor: 'google',
  route(path) {
    const found = /\/models\/([^/:]+):(generateContent|streamGenerateContent)$/.exec(path);
    return found?.[1] === undefined ? undefined : { model: found[1], stream: found[2] === 'streamGenerateContent' };
  },
  counted: path => (/\/models\/[^/:]+:countTokens$/.test(path) ? { totalTokens: 100 } : undefined),
  unauthorized(headers, query) {
    if (headers['x-goog-api-key'] || query.get('key')) return undefined;
    return "Method doesn't allow unregistered callers. Please use API Key.";
  },
  read(body) {
    const parsed = request.safeParse(body);
    if (!parsed.success) return z.prettifyError(parsed.error);
    const { data } = parsed;
    const messages: WireMessage[] = [];
    for (const [index, one] of data.contents.entries()) {
      const calls = messages.at(-1)?.parts.filter(before => before.kind === 'call') ?? [];
      const parts: WirePart[] = [];
      let answers = 0;
      for (const piece of one.parts) {
        const read = readPart(piece, `${index}/${parts.length}`, calls[answers]);
        if (typeof read === 'string') return `contents.${index}: ${read}`;
        if (read.kind === 'result') answers++;
        parts.push(read);
      }
      const first = one.parts.find(piece => piece.functionCall !== undefined);
      if (first !== undefined && first.thoughtSignature !== SIGNATURE) {
        return `contents.${index}: Function call is missing a thought_signature in functionCall parts.`;
      }
      messages.push({ role: one.role === 'model' ? 'assistant' : 'user', parts });
    }
    return {
      system: data.systemInstruction?.parts.map(one => one.text ?? '').join('\n') ?? '',
      messages,
      tools: data.tools.flatMap(tool =>
        tool.functionDeclarations.map(({ name, description, parameters, parametersJsonSchema }) => ({
          name,
          description,
          schema: parametersJsonSchema ?? parameters ?? {},
        })),
      ),
      wantsJson: data.generationConfig?.responseMimeType === 'application/json',
    };
  },
  whole(answer, context) {
    const text = wholeText(answer.text);
    const parts = [...thoughts(answer), ...(text === '' ? [] : [{ text }]), ...callsOf(answer)];
    return chunk(parts, context, finishReason(answer));
  },
  events(answer, context) {
    const pieces = [...thoughts(answer), ...textDeltas(answer.text).map(text => ({ text })), ...callsOf(answer)];
    const all: readonly (readonly JsonObject[])[] = pieces.length === 0 ? [[]] : pieces.map(piece => [piece]);
    return all.map((parts, index) => ({
      data: chunk(parts, context, index === all.length - 1 ? finishReason(answer) : undefined),
    }));
  },
  refusal: (status, message) => ({ error: { code: status, message, status: statuses[status] ?? 'INTERNAL' } }),
  errorEvent: message => ({ data: { error: { code: 503, message, status: 'UNAVAILABLE' } } }),
};

function readPart(piece: Part, id: string, answered: WirePart | undefined): WirePart | string {
  if (piece.functionCall !== undefined) return { kind: 'call', id, tool: piece.functionCall.name };
  if (piece.functionResponse !== undefined) {
    const { name, response } = piece.functionResponse;
    if (answered?.kind !== 'call' || answered.tool !== name) {
      return `the function response of ${name} answers no function call of the turn before`;
    }
    return { kind: 'result', id: answered.id, tool: name, text: JSON.stringify(response) };
  }
  if (piece.thought === true) return { kind: 'thinking' };
  return piece.text === undefined ? 'a part is empty' : { kind: 'text', text: piece.text };
}

function thoughts(answer: ModelAnswer): readonly JsonObject[] {
  return answer.thinking === undefined ? [] : [{ text: answer.thinking, thought: true }];
}

/** The first call of a turn carries the signature, as with real models. */
function callsOf(answer: ModelAnswer): readonly JsonObject[] {
  return (answer.calls ?? []).map(({ tool, input }, index) => ({
    functionCall: { name: tool, args: input },
    ...(index === 0 && { thoughtSignature: SIGNATURE }),
  }));
}

function finishReason(answer: ModelAnswer): string {
  if (answer.finish === 'length') return 'MAX_TOKENS';
  return answer.finish === 'refused' ? 'SAFETY' : 'STOP';
}

function chunk(parts: readonly Json[], { call, model, usage }: AnswerContext, finish: string | undefined) {
  return {
    candidates: [
      { index: 0, content: { role: 'model', parts }, ...(finish !== undefined && { finishReason: finish }) },
    ],
    usageMetadata: {
      promptTokenCount: usage.input,
      cachedContentTokenCount: usage.cached,
      candidatesTokenCount: usage.output,
      totalTokenCount: usage.input + usage.output,
    },
    modelVersion: model,
    responseId: `google_${call}`,
  };
}
