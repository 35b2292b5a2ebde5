/** `signalbox/embed`: plans inside a Node process of your own. */
import path from 'node:path';
import { readToken } from '@signalbox/app';
import { type HomeOptions, openHome, takeUp, thisMachine } from '@signalbox/app/host';
import { connect, type Signalbox, SignalboxError } from '@signalbox/client';
import { startOwnServer } from './serving/own-server.ts';
import { lazyTurnServer } from './serving/turn-server.ts';

export interface EmbedOptions {
  /** Everything durable is here; one process owns it at a time. */
  readonly dataDirectory: string;
  /** Where the console, the command line and other programs reach it, on 127.0.0.1; by default a free one. */
  readonly port?: number;
  /** Where keys of providers and secrets are, by default the variables of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Resumes the runs that an earlier process left behind; true by default. */
  readonly resume?: boolean;
}

/** A data directory that this process owns, and its runs. */
export interface EmbeddedSignalbox extends Omit<Signalbox, 'close'> {
  /** Where it listens. */
  readonly url: string;
  readonly token: string;
  /** Runs of an earlier process that were resumed. */
  readonly resumed: readonly string[];
  /** A link that opens the console once. */
  link(): string;
  /** Pauses runs, rolls back calls under way, and releases the directory. The next process resumes the runs. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Owns a data directory in this process: runs of plans are started, driven, answered and watched here, and the command line and the
 * console work with it at the same time. Throws a `SignalboxError`, such as `store/owned` if another process has it.
 */
export async function openSignalbox(options: EmbedOptions): Promise<EmbeddedSignalbox> {
  const directory = path.resolve(options.dataDirectory);
  const machine = thisMachine();
  const home = await openHome({
    dataDirectory: directory,
    machine,
    env: options.env ?? process.env,
    resumeOnAnswer: true,
    turns: lazyTurnServer(machine.timers),
  } satisfies HomeOptions);
  if (!home.ok) throw new SignalboxError(home.error);
  const server = await startOwnServer({ home: home.value, directory, machine, port: options.port ?? 0 });
  if (!server.ok) {
    await home.value.close();
    throw new SignalboxError(server.error);
  }
  const token = readToken(directory);
  if (!token.ok) {
    await server.value.close();
    await home.value.close();
    throw new SignalboxError(token.error);
  }
  const { url } = server.value;
  const { close: endSubscriptions, ...signalbox } = connect({ url, token: token.value, anyFile: true });
  const resumed = options.resume === false ? [] : await takeUp(home.value.host);
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= (async () => {
      endSubscriptions();
      await server.value.close();
      await home.value.close();
    })();
    return closing;
  };
  return {
    ...signalbox,
    url,
    token: token.value,
    resumed,
    link: () => server.value.newLink().url,
    close,
    [Symbol.asyncDispose]: close,
  };
}

export type {
  PlanHandle,
  PlanTypes,
  Question,
  RunEvent,
  RunFacts,
  RunHandle,
  RunsFilter,
  StartOptions,
} from '@signalbox/client';
export { SignalboxError } from '@signalbox/client';
