import { type ClientContext, methods, type NewSessionResponse } from '@agentclientprotocol/sdk';
import type { TaskError } from '@signalbox/runs';
import { taskFailure } from '../attempt/task-failure.ts';
import type { AgentRow } from './register.ts';
import type { SessionUpdate } from './session-update.ts';

/** The mode and options that the agent last reported. */
export interface ReportedMode {
  /** The last mode that the agent reported by itself. */
  mode(): string | undefined;
}

/** Sets the mode in which the agent asks, and reads it back. Returns why the agent cannot be used, if it does not hold. */
export async function setAskingMode(
  agent: ClientContext,
  row: AgentRow,
  session: NewSessionResponse,
  reported: ReportedMode,
): Promise<TaskError | undefined> {
  const { asking } = row;
  const { sessionId } = session;
  switch (asking.kind) {
    case 'settings':
      return undefined;
    case 'mode': {
      const offered = session.modes?.availableModes.map(({ id }) => id) ?? [];
      if (!offered.includes(asking.mode)) return notAsking(row, `it offers ${named(offered)} as modes`);
      if ((reported.mode() ?? session.modes?.currentModeId) !== asking.mode) {
        await agent.request(methods.agent.session.setMode, { sessionId, modeId: asking.mode });
        const now = reported.mode() ?? asking.mode;
        if (now !== asking.mode) return notAsking(row, `it is in mode ${now} although ${asking.mode} was set`);
      }
      return undefined;
    }
    case 'option': {
      const { option, value } = asking;
      const valueIn = (options: NewSessionResponse['configOptions']) =>
        options?.find(({ id }) => id === option)?.currentValue;
      const before = valueIn(session.configOptions);
      if (before === undefined) return notAsking(row, `it has no option ${option}`);
      if (before === value) return undefined;
      const answer = await agent.request(methods.agent.session.setConfigOption, { sessionId, configId: option, value });
      const now = valueIn(answer.configOptions);
      return now === value
        ? undefined
        : notAsking(row, `its option ${option} is ${String(now)} although ${value} was set`);
    }
  }
}

/** Why an update means that the agent no longer asks. */
export function leftAsking(row: AgentRow, update: SessionUpdate): TaskError | undefined {
  const { asking } = row;
  if (update.sessionUpdate === 'current_mode_update' && asking.kind === 'mode') {
    if (update.currentModeId !== asking.mode) return left(row, `mode ${asking.mode} for ${update.currentModeId}`);
  }
  if (update.sessionUpdate === 'config_option_update' && asking.kind === 'option') {
    const now = update.configOptions.find(({ id }) => id === asking.option)?.currentValue;
    if (now !== undefined && now !== asking.value)
      return left(row, `${asking.option} ${asking.value} for ${String(now)}`);
  }
  return undefined;
}

function notAsking({ title, asking }: AgentRow, reason: string): TaskError {
  const wanted = asking.kind === 'mode' ? `mode ${asking.mode}` : 'the option';
  return taskFailure(
    'agent-not-asking',
    `${title} cannot be made to ask a person: ${reason}, and ${wanted} is needed. Nothing was run. Use the version of the agent that \`signalbox agents\` names.`,
  );
}

function left({ title }: AgentRow, what: string): TaskError {
  return taskFailure(
    'agent-left-asking',
    `${title} left ${what}, so it would no longer ask a person. Its turn was ended, and nothing that it changed was applied.`,
  );
}

function named(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ');
}
