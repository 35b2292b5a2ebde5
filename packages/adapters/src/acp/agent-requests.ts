import { type ClientApp, client, methods, RequestError } from '@agentclientprotocol/sdk';
import { type AgentFiles, type FileAccess, linesOf } from './agent-files.ts';
import type { PermissionDesk } from './permission-desk.ts';
import type { SessionWatch } from './session-watch.ts';
import type { TurnBook } from './turn-book.ts';

export interface RequestsContext {
  readonly watch: SessionWatch;
  readonly desk: PermissionDesk;
  readonly files: AgentFiles;
  readonly book: TurnBook;
  /** The agent sent something. */
  heard(): void;
  /** Something went wrong on our side. */
  lost(cause: unknown): void;
}

/** Answers the requests of an agent. What goes wrong on our side ends the turn: the agent would only see an error. */
export function agentRequests({ watch, desk, files, book, heard, lost }: RequestsContext): ClientApp {
  function answering<P, R>(answer: (params: P) => Promise<R>): (request: { readonly params: P }) => Promise<R> {
    return async ({ params }) => {
      heard();
      try {
        return await answer(params);
      } catch (thrown) {
        if (!(thrown instanceof RequestError)) lost(thrown);
        throw thrown;
      }
    };
  }

  /** The same for requests that name a session. */
  function own<P extends { readonly sessionId: string }, R>(what: string, answer: (params: P) => Promise<R>) {
    return answering<P, R>(async params => {
      if (params.sessionId === watch.id()) return answer(params);
      book.note(`The agent asked for ${what} in a session that is not its own. It was refused.`);
      throw RequestError.sessionNotFound(params.sessionId);
    });
  }

  return client({ name: 'signalbox' })
    .onRequest(methods.client.session.requestPermission, own('a permission', desk.requested))
    .onRequest(
      methods.client.fs.readTextFile,
      own('a file', async ({ path, line, limit }) => ({
        content: linesOf(reached(path, files.read(path)), line, limit),
      })),
    )
    .onRequest(
      methods.client.fs.writeTextFile,
      own('a file', async ({ path, content }) => {
        // Nobody is asked about a write that cannot be made.
        const looked = files.look(path);
        if (looked.kind === 'refused') reached(path, looked);
        const done = await desk.mayWrite(path, content);
        if (done === undefined) throw RequestError.invalidRequest(undefined, 'a person did not allow this write');
        const access = files.write(path, content);
        await done(access.kind === 'done');
        reached(path, access);
        return {};
      }),
    );
}

function reached(path: string, access: FileAccess): string {
  switch (access.kind) {
    case 'done':
      return access.content;
    case 'missing':
      throw RequestError.resourceNotFound(path);
    case 'refused':
      throw RequestError.invalidParams({ path }, access.reason);
  }
}
