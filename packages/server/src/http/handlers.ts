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

/** The handlers of all operations. A handler gets resolved places and checked input, calls one use-case, and answers. */
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

/** The things named by the parameters of its path. */
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

/** Operations that guided runs also have. */
export const ofAnyRun = ['run', 'events'] as const satisfies readonly RouteName[];
type OfAnyRun = (typeof ofAnyRun)[number];

/** The caller, and the request. */
export interface Caller {
  /** The name in events. */
  readonly user: string;
  readonly identity: Identity;
  /** The request, while it is being answered. */
  readonly door: Door | undefined;
  readonly request: Request;
}
