import type { RunRecord } from '@signalbox/app/host';
import type {
  AnswerOf,
  ErrorEnvelope,
  InputOf,
  OperationName,
  Operations,
  PathNames,
  Result,
  SessionId,
  WireDecision,
} from '@signalbox/model';
import type { Identity } from '../access/identity.ts';
import type { Door } from '../access/open-doors.ts';
import type { AnyRun } from './places.ts';

/** Every operation but the WebSocket. */
export type RouteName = {
  [Name in OperationName]: Operations[Name]['route'] extends `WS ${string}` ? never : Name;
}[OperationName];

/** What stands behind each operation. A handler is given what was found and checked, calls one use-case, and answers. */
export type Handlers = { readonly [Name in RouteName]: Handler<Name> };

export type Serving<Name extends RouteName> = Pick<Handlers, Name>;

export type Handler<Name extends RouteName> = (
  place: Place<Name>,
  input: InputOf<Name>,
  caller: Caller,
) => Outcome<Name> | Promise<Outcome<Name>>;

type Outcome<Name extends RouteName> = Result<
  Operations[Name] extends { readonly answer: 'bytes' } ? Response : AnswerOf<Name>,
  ErrorEnvelope
>;

/** What the parameters of its path name. */
export type Place<Name extends RouteName> = {
  readonly [Part in PathNames<Operations[Name]['route']>[number]]: Part extends 'run'
    ? Name extends OfAnyRun
      ? AnyRun
      : RunRecord
    : Part extends keyof Found
      ? Found[Part]
      : string;
};

interface Found {
  readonly session: SessionId;
  readonly decision: WireDecision;
}

/** Operations that guided runs have too. */
export const ofAnyRun = ['run', 'events'] as const satisfies readonly RouteName[];
type OfAnyRun = (typeof ofAnyRun)[number];

/** Who asks, and the request. */
export interface Caller {
  /** As events name it. */
  readonly user: string;
  readonly identity: Identity;
  /** What is open while the request is answered. */
  readonly door: Door | undefined;
  readonly request: Request;
}
