import { runProgram } from '@signalbox/state';

/** How long a program may take to answer and end. */
const ANSWER_MS = 60_000;

/** Why a program does not answer a handshake of MCP on its standard streams; undefined if it does. */
export async function programFault(
  [program = '', ...args]: readonly string[],
  handshake: object,
): Promise<string | undefined> {
  const { cwd, env } = { cwd: process.cwd(), env: process.env };
  const input = `${JSON.stringify(handshake)}\n`;
  const { code, out, said } = await runProgram(program, args, { cwd, env, input, timeoutMs: ANSWER_MS });
  if (out.includes('"serverInfo"')) return undefined;
  return `it ended with ${code ?? 'no code'} and no answer. ${said.trim().slice(0, 500)}`;
}
