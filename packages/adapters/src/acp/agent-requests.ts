import { type ClientApp, client, methods, RequestError } from '@agentclientprotocol/sdk';
import { type AgentFiles, type FileAccess, linesOf } from './agent-files.ts';
import type { AgentTerminals } from './agent-terminals.ts';
import type { Elicitations } from './elicitation.ts';
import type { PermissionDesk } from './permission-desk.ts';
import type { SessionWatch } from './session-watch.ts';
import type { TurnBook } from './turn-book.ts';

export interface RequestsContext {
  readonly watch: SessionWatch;
  readonly desk: PermissionDesk;
  readonly files: AgentFiles;
  /** Undefined if it is offered none. */
  readonly terminals: AgentTerminals | undefined;
  readonly elicitations: Elicitations;
  readonly book: TurnBook;
  /** The agent sent something. */
  heard(): void;
  /** Something went wrong on our side. */
  lost(cause: unknown): void;
}

/** Answers the requests of an agent. What goes wrong on our side ends the turn: the agent would only see an error. */
export function agentRequests(context: RequestsContext): ClientApp {
  const { watch, desk, files, terminals, elicitations, book, heard, lost } = context;
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
    )
    .onRequest(
      methods.client.terminal.create,
      own('a terminal', async request => {
        const at = offered(terminals);
        at.commandOf(request);
        const { command, args = [], cwd, env = [] } = request;
        const line = [command, ...args].join(' ');
        const done = await desk.mayRun(line, {
          command,
          args,
          ...(cwd != null && { cwd }),
          ...(env.length > 0 && { env }),
        });
        if (done === undefined) throw RequestError.invalidRequest(undefined, 'a person did not allow this command');
        return at.open(request, done);
      }),
    )
    .onRequest(
      methods.client.terminal.output,
      own('a terminal', async ({ terminalId }) => offered(terminals).output(terminalId)),
    )
    .onRequest(
      methods.client.terminal.waitForExit,
      own('a terminal', async ({ terminalId }) => offered(terminals).exit(terminalId)),
    )
    .onRequest(
      methods.client.terminal.kill,
      own('a terminal', async ({ terminalId }) => {
        offered(terminals).kill(terminalId);
        return {};
      }),
    )
    .onRequest(
      methods.client.terminal.release,
      own('a terminal', async ({ terminalId }) => {
        offered(terminals).release(terminalId);
        return {};
      }),
    )
    .onRequest(
      methods.client.elicitation.create,
      answering(async request => {
        if (!('sessionId' in request) || request.sessionId === watch.id()) return elicitations.asked(request);
        book.note('The agent asked for an answer in a session that is not its own. It was refused.');
        throw RequestError.sessionNotFound(String(request.sessionId));
      }),
    );
}

function offered(terminals: AgentTerminals | undefined): AgentTerminals {
  if (terminals === undefined) throw RequestError.methodNotFound(methods.client.terminal.create);
  return terminals;
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
