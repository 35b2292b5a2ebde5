// Three vendors' agents on one change: Claude writes it, Codex reviews it, Gemini tests it. Each works on a layer of its own. The one
// approval is yours: what Claude wrote is shown as a diff, and nothing of it is in the project before you apply it.
import path from 'node:path';
import { Claude, Codex, definePlan, Gemini, Parallel, Phase } from 'signalbox';
import * as z from 'zod';

export default definePlan({
  name: 'three-vendors',
  description: 'Claude writes, Codex reviews, Gemini tests.',
  input: z.object({
    project: z
      .string()
      .default(path.join(import.meta.dirname, 'project'))
      .describe('The folder of the project'),
    task: z
      .string()
      .default('Add to stations.js a function next(name) that returns the station after it, or undefined.')
      .describe('What to write'),
  }),
  state: z.object({ written: z.string().optional(), review: z.string().optional(), tested: z.string().optional() }),
  render: ctx => {
    const { project, task } = ctx.input;
    return (
      <>
        <Phase name="write">
          <Claude
            id="write"
            plugin="claude"
            cwd={project}
            apply="ask"
            prompt={`${task} Change nothing else, and run nothing.`}
            onFinished={written => ctx.state.set('written', written)}
          />
        </Phase>
        <Phase name="look">
          <Parallel>
            {/* A review changes nothing: what the agent would have changed is shown in its transcript, and dropped. */}
            <Codex
              id="review"
              plugin="codex"
              cwd={project}
              apply="never"
              prompt={`Another agent was asked: "${task}" Review what is there now, and say in a few sentences what is wrong with it.`}
              onFinished={review => ctx.state.set('review', review)}
            />
            {/* The check runs on the agent's layer. The tests reach the project only if they pass. */}
            <Gemini
              id="test"
              plugin="gemini"
              cwd={project}
              check="node --test"
              prompt={`Another agent was asked: "${task}" Write tests for it with node:test, in a file next to it. Run nothing.`}
              onFinished={tested => ctx.state.set('tested', tested)}
            />
          </Parallel>
        </Phase>
      </>
    );
  },
});
