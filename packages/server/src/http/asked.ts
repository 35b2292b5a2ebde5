import type { HttpBindings } from '@hono/node-server';
import type { Identity } from '../access/identity.ts';
import type { Door } from '../access/open-doors.ts';

/** What is known about a request when it reaches its route. */
export interface Asked {
  /** Absent without a socket. */
  readonly Bindings: Partial<HttpBindings>;
  readonly Variables: {
    /** The caller's name, as used in events. */
    readonly user: string;
    readonly identity: Identity;
    /** The request, while it is being answered. */
    readonly door: Door | undefined;
  };
}
