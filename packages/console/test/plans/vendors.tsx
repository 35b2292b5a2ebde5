// Agents of other vendors side by side, each with a task of its own.
import { Agent, definePlan, Parallel } from 'signalbox';
import * as z from 'zod';

export default definePlan({
  name: 'vendors',
  input: z.object({
    /** Where they work. */
    project: z.string(),
    tasks: z.array(
      z.object({
        id: z.string(),
        plugin: z.string(),
        prompt: z.string(),
        apply: z.enum(['auto', 'ask', 'never']).default('auto'),
      }),
    ),
  }),
  state: z.object({}),
  render: ctx => (
    <Parallel>
      {ctx.input.tasks.map(({ id, plugin, prompt, apply }) => (
        <Agent
          key={id}
          id={id}
          plugin={plugin}
          prompt={prompt}
          apply={apply}
          permissions="gated"
          cwd={ctx.input.project}
          retries={1}
        />
      ))}
    </Parallel>
  ),
});
