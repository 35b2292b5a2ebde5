// An agent tidies a project with two edits. Each is a tool call of its own, and can be undone by itself, also later.
import { Agent, definePlan } from 'signalbox';
import * as z from 'zod';

export default definePlan({
  name: 'tidy',
  description: 'Tidies a project with two edits that can be undone.',
  input: z.object({
    project: z.string().default('project').describe('The folder of the project'),
    model: z.string().default('scripted:models/tidy.json').describe('The model that tidies'),
  }),
  state: z.object({ said: z.string().optional() }),
  render: ctx => (
    <Agent
      id="tidy"
      model={ctx.input.model}
      cwd={ctx.input.project}
      maxTurns={5}
      tools={{ allow: ['write_file', 'edit_file'] }}
      prompt="Tidy this project up."
      onFinished={said => ctx.state.set('said', said as string)}
    />
  ),
});
