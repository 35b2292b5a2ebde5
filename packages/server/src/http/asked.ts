import type { HttpBindings } from '@hono/node-server';
import type { Identity } from '../access/identity.ts';
import type { Door } from '../access/open-doors.ts';

/** What is known of a request by the time a route sees it. */
export interface Asked {
  /** Absent where there is no socket. */
  readonly Bindings: Partial<HttpBindings>;
  readonly Variables: {
    /** The name of whoever asks. Events name them. */
    readonly user: string;
    readonly identity: Identity;
    /** The request itself, for as long as it is answered. */
    readonly door: Door | undefined;
  };
}
