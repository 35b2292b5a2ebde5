import type {
  CreateElicitationRequest,
  CreateElicitationResponse,
  ElicitationContentValue,
} from '@agentclientprotocol/sdk';
import {
  canonicalJson,
  type Json,
  type JsonObject,
  jsonObject,
  type Resolution,
  type SecretMac,
} from '@signalbox/model';
import type { AgentQuestion, AgentSession, DecisionKind } from '@signalbox/runs';
import * as z from 'zod';
import { plainData } from '../attempt/plain-data.ts';
import type { Redactor } from '../attempt/redaction.ts';
import type { CallNames } from './call-names.ts';
import type { AgentRow } from './register.ts';
import { shownAs } from './shown-hash.ts';

export interface ElicitationContext {
  readonly row: Pick<AgentRow, 'id' | 'title'>;
  readonly session: Pick<AgentSession, 'answered' | 'signal'>;
  readonly names: CallNames;
  readonly mac: SecretMac;
  readonly redact: Redactor;
  readonly parkMs: number;
  keep(entry: unknown): void;
  note(words: string): void;
  /** Nobody answered in time: the process need not wait any longer. */
  parked(kind: DecisionKind): void;
  isOver(): boolean;
}

/** The most questions that wait at the same time. */
const MAX_OPEN = 32;
const MAX_MESSAGE = 20_000;

const option = z.looseObject({ const: z.string().min(1), title: z.string() });
const property = z.union([
  z.looseObject({ type: z.literal('string'), oneOf: z.array(option).min(1) }),
  z.looseObject({ type: z.literal('string'), enum: z.array(z.string().min(1)).min(1) }),
  z.looseObject({ type: z.literal('boolean') }),
]);

/** A form that a person is shown. */
interface Form {
  readonly kind: DecisionKind;
  readonly asked: {
    readonly options?: readonly { readonly id: string; readonly label: string }[];
    readonly schema?: JsonObject;
  };
  /** The values of the form, from a person's answer. */
  content(answer: Resolution): Record<string, ElicitationContentValue> | undefined;
}

/**
 * Questions of an agent's own (`elicitation/create`): each is a decision, named by what is asked and how often.
 *
 * 1. A form with one choice is a choice, one without fields is a yes or no, any other one asks for values.
 * 2. A denial declines it. A page to visit is declined too: nobody can be sent there.
 */
export function createElicitations(context: ElicitationContext) {
  const { row, session, names, mac, redact } = context;
  const open = new Map<string, DecisionKind>();

  function questionOf(message: string, form: Form): AgentQuestion {
    const asked = plainData({ message, ...form.asked });
    const full = plainData({ prompt: message, ...form.asked, context: { agent: { id: row.id, title: row.title } } });
    const call = names.next(`form/${mac(`form ${canonicalJson(asked)}`)}`);
    return { call, kind: form.kind, proposal: redact.data(full) as Json, ...shownAs(full, mac) };
  }

  return {
    async asked(request: CreateElicitationRequest): Promise<CreateElicitationResponse> {
      if (request.mode !== 'form') {
        context.note(`The agent asked a person in a way that cannot be shown (${request.mode}). It was declined.`);
        return { action: 'decline' };
      }
      const schema = jsonObject.safeParse(plainData(request.requestedSchema));
      if (!schema.success || request.message.length > MAX_MESSAGE || open.size >= MAX_OPEN) {
        context.note('The agent asked a person something that cannot be shown. It was declined.');
        return { action: 'decline' };
      }
      const form = formOf(schema.data);
      const question = questionOf(request.message, form);
      open.set(question.call, question.kind);
      const answer = await session.answered(question, context.parkMs);
      if (answer === undefined) {
        if (!session.signal.aborted && !context.isOver()) context.parked(question.kind);
        return { action: 'cancel' };
      }
      open.delete(question.call);
      context.keep({ v: 1, kind: 'question', call: question.call, isAnswered: true });
      const content = answer.resolutionType === 'reject' ? undefined : form.content(answer);
      return content === undefined ? { action: 'decline' } : { action: 'accept', content };
    },
    /** The kind of a question that nobody answered yet. */
    open: (): DecisionKind | undefined => [...open.values()][0],
  };
}

export type Elicitations = ReturnType<typeof createElicitations>;

function formOf(schema: JsonObject): Form {
  const fields = Object.entries(jsonObject.safeParse(schema.properties).data ?? {});
  const [only] = fields;
  if (only === undefined)
    return {
      kind: 'confirmation',
      asked: {},
      content: ({ resolutionType }) => (resolutionType === 'approve' ? {} : undefined),
    };
  const [name, about] = only;
  const choice = fields.length === 1 ? property.safeParse(about).data : undefined;
  if (choice === undefined)
    return {
      kind: 'human',
      asked: { schema: { ...schema, type: 'object' } },
      content: ({ value }) => values.safeParse(value).data,
    };
  const options =
    choice.type === 'boolean'
      ? YES_OR_NO
      : 'oneOf' in choice
        ? (choice.oneOf as readonly z.infer<typeof option>[]).map(one => ({ id: one.const, label: one.title }))
        : (choice.enum as readonly string[]).map(one => ({ id: one, label: one }));
  return {
    kind: 'choice',
    asked: { options },
    content: ({ chosenOptionId: id }) =>
      id === undefined ? undefined : { [name]: choice.type === 'boolean' ? id === 'true' : id },
  };
}

const YES_OR_NO = [
  { id: 'true', label: 'Yes' },
  { id: 'false', label: 'No' },
];

const values = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]));
