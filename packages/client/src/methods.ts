import {
  type AnswerOf,
  type ApprovalId,
  type ArtifactId,
  type Digest,
  type InputOf,
  type Operation,
  type OperationName,
  type Operations,
  operations,
  type PathNames,
  type RunId,
  type SessionId,
  type Timestamp,
  type UserRole,
} from '@signalbox/model';
import type { Answer, Request } from './request.ts';

/**
 * A method for every operation that needs a token. It takes the path parameters, the input fields that have their own arguments, the rest
 * of the input, and a key if the operation has one.
 */
export type Methods = { readonly [Name in MethodName]: (...given: Arguments<Name>) => Answer<AnswerOf<Name>> };

type MethodName = {
  [Name in OperationName]: Operations[Name] extends {
    readonly route: `${string} /api/${string}`;
    readonly needs: UserRole;
    readonly answer: string;
  }
    ? Name
    : never;
}[OperationName];

type Arguments<Name extends OperationName> = [
  ...PathValues<PathNames<Operations[Name]['route']>>,
  ...(Operations[Name] extends { readonly args: infer Names extends readonly string[] }
    ? [...Fields<Given<Name>, Names>, ...Rest<Omit<Given<Name>, Names[number]>>]
    : Rest<Given<Name>>),
  ...(Operations[Name] extends { readonly key: string } ? [options?: { readonly idempotencyKey?: string }] : []),
];

type PathValues<Names> = Names extends [infer First, ...infer Others]
  ? [First extends keyof PathTypes ? PathTypes[First] : string, ...PathValues<Others>]
  : [];

interface PathTypes {
  readonly run: RunId;
  readonly decision: ApprovalId;
  readonly artifact: ArtifactId;
  readonly session: SessionId;
  readonly frame: number;
}

type Fields<Input, Names> = Names extends readonly [infer First extends keyof Input, ...infer Others]
  ? [...(undefined extends Input[First] ? [field?: Input[First]] : [field: Input[First]]), ...Fields<Input, Others>]
  : [];

type Rest<Input> = keyof Input extends never ? [] : object extends Input ? [input?: Input] : [input: Input];

type Given<Name extends OperationName> = Operations[Name] extends { readonly input: 'Empty' | 'NoQuery' }
  ? object
  : Loose<InputOf<Name>>;

/** Times and digests may be any text: the server checks them. Lists are unchanged. */
type Loose<Input> = {
  readonly [Name in keyof Input]: Input[Name] extends Timestamp | Digest | undefined
    ? string | Extract<Input[Name], undefined>
    : Input[Name] extends readonly (infer Item)[] | undefined
      ? readonly Item[] | Extract<Input[Name], undefined>
      : Input[Name];
};

export function createMethods(request: Request): Methods {
  const names = Object.keys(operations) as OperationName[];
  const methods = names.map(name => [name, (...given: unknown[]) => callOperation(request, name, given)]);
  return Object.fromEntries(methods) as Methods;
}

/** Calls an operation with the arguments of its method. */
export function callOperation<Name extends OperationName>(
  request: Request,
  name: Name,
  given: readonly unknown[],
): Answer<AnswerOf<Name>> {
  const { route, input, args = [] }: Operation = operations[name];
  const values = [...given];
  const [method = '', pattern = ''] = route.split(' ');
  const path = pattern.replace(/:\w+/g, () => encodeURIComponent(String(values.shift())));
  const fields = Object.fromEntries(args.map(arg => [arg, values.shift()]));
  const [rest, options] = values as [object?, { readonly idempotencyKey?: string }?];
  const sent = input === undefined ? undefined : { ...fields, ...rest };
  return request(name, { method, path, ...(method === 'GET' ? { query: sent } : { body: sent }), ...options });
}
