import { type ClientOptions, createClient } from './client.ts';
import { handlesOf, type Signalbox } from './handles.ts';

export interface ConnectOptions extends Pick<ClientOptions, 'url' | 'token' | 'fetch'> {
  /** Names the files of plans as at the command line of the server's machine: any file. Needs the owner's token. */
  readonly anyFile?: boolean;
}

/** The runs of a server, for Node and browsers: typed by their plans, with live events. */
export function connect({ anyFile = false, ...options }: ConnectOptions): Signalbox {
  return handlesOf(createClient(options), { anyFile });
}
