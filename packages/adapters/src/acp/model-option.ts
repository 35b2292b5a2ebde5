import { type ClientContext, methods, type NewSessionResponse } from '@agentclientprotocol/sdk';
import type { TaskError } from '@signalbox/runs';
import { taskFailure } from '../attempt/task-failure.ts';
import type { AgentRow } from './register.ts';

/** Makes the agent use the model that a plan names. Returns why it cannot. */
export async function chooseModel(
  agent: ClientContext,
  row: AgentRow,
  { sessionId, configOptions }: NewSessionResponse,
  model: string | undefined,
): Promise<TaskError | undefined> {
  if (model === undefined) return undefined;
  const option = configOptions?.find(({ category, type }) => category === 'model' && type === 'select');
  if (option === undefined || option.type !== 'select')
    return unknown(row, model, 'It does not let its model be chosen. Leave the model out of the plan.');
  const values = option.options.flatMap(one => ('options' in one ? one.options : [one])).map(({ value }) => value);
  const value = values.find(one => one === model || `${row.vendor}:${one}` === model || model.endsWith(`:${one}`));
  if (value === undefined) return unknown(row, model, `It offers ${values.join(', ')}.`);
  if (option.currentValue === value) return undefined;
  await agent.request(methods.agent.session.setConfigOption, { sessionId, configId: option.id, value });
  return undefined;
}

function unknown({ title }: AgentRow, model: string, what: string): TaskError {
  return taskFailure('model-unknown', `${title} cannot use the model ${model}. ${what}`);
}
