import type { Resolution } from '@signalbox/app/host';
import type { ModelReply, ModelRequest, ScriptedCall } from '@signalbox/testkit';
import { inRoot, isAside, turnCounter, type Ways, waysOf } from '../../adapters/test/real-ways.ts';
import { BUILTIN } from './real-host.ts';

/** The file that the task reads and edits, before and after. */
export const NOTES = { name: 'notes.txt', before: 'one\ntwo\n', after: 'one\ntwo\nthree\n' };
const FAILING = 'sh -c "exit 3"';
const QUESTION = 'Which colour?';
const OPTIONS = [
  { id: 'red', label: 'Red' },
  { id: 'blue', label: 'Blue' },
];

/** The node of the task. Everything that it changes needs a person. */
export function taskPlan(agent: string): string {
  const which = agent === BUILTIN ? 'model="anthropic:claude-sonnet-5-5"' : `plugin="${agent}"`;
  return `import { Agent, definePlan } from 'signalbox';
import * as z from 'zod';
export default definePlan({
  name: 'task',
  state: z.object({ said: z.any(), failed: z.any() }),
  render: ctx => (
    <Agent id="agent" ${which} cwd="work" permissions="gated" prompt="Do the task."
      onFinished={said => ctx.state.set('said', said)} onError={({ error }) => ctx.state.set('failed', error.message)} />
  ),
});
`;
}

/** The model of the task: it reads a file, edits it, runs a command that fails, asks a person, and is done. */
export function taskModel(agent: string, root: string): (request: ModelRequest) => ModelReply {
  const { read, edit, command, hidden }: Pick<Ways, 'read' | 'edit' | 'command' | 'hidden'> =
    agent === BUILTIN ? own : waysOf(agent);
  const calls = [read(NOTES.name), edit(NOTES.name, 'two', ['two', 'three']), command(FAILING)];
  const turnOf = turnCounter();
  return request => {
    if (isAside(request)) return { text: 'A title' };
    const told = request.since.map(({ text }) => text).join('\n');
    if (told.includes('Stop here')) return { text: 'I stop.' };
    const turn = turnOf(request);
    // A new session is told what happened before, and does the task again.
    if (request.turn > 1 && told.includes('The person answered')) return { text: 'Done.' };
    const call = calls[turn - 1] ?? asking(request, turn, hidden);
    return call === undefined ? { text: 'Done.' } : inRoot({ calls: [call] }, root);
  };
}

/** The call that asks a person; undefined if the agent has no tool for it, as the one that comes along. */
function asking({ tools }: ModelRequest, turn: number, hidden: Ways['hidden']): ScriptedCall | undefined {
  if (turn > 4) return undefined;
  const shown = tools.find(({ name }) => /request_decision$/.test(name));
  const tool = shown && { tool: shown.name, ...(shown.namespace && { namespace: shown.namespace }) };
  const found = tool ?? hidden;
  return found && { ...found, input: { question: QUESTION, options: OPTIONS } };
}

const own = {
  read: (name: string): ScriptedCall => ({ tool: 'read_file', input: { path: name } }),
  edit: (name: string, line: string, lines: readonly string[]): ScriptedCall => ({
    tool: 'edit_file',
    input: { path: name, find: line, replaceWith: lines.join('\n') },
  }),
  command: (line: string): ScriptedCall => ({ tool: 'run_command', input: { command: ['sh', '-c', line] } }),
};

/** What the person answers, who is asked during the task. */
export function answerTo(kind: string): Resolution {
  const said = { rationale: 'It is calm.', actionKind: 'review' } as const;
  if (kind === 'choice') return { ...said, resolutionType: 'choose_option', chosenOptionId: 'blue' };
  return { ...said, resolutionType: 'approve' };
}
