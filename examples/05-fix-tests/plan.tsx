// An agent repairs a project until its tests pass; then a person looks at what it did.
// The tests are run by the plan itself. What the agent changes, it changes through tools that can be undone.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { Agent, definePlan, Human, If, Phase, Stop, Task, While } from 'signalbox';
import * as z from 'zod';

export default definePlan({
  name: 'fix-tests',
  description: 'Repairs a project until its tests pass; then a person looks at it.',
  input: z.object({
    project: z
      .string()
      .default(path.join(import.meta.dirname, 'project'))
      .describe('The folder of the project'),
    model: z.string().default('scripted:models/repair.json').describe('The model that repairs'),
  }),
  state: z.object({
    passed: z.boolean().default(false),
    report: z.string().default(''),
    approved: z.boolean().optional(),
  }),
  render: ctx => {
    const { project, model } = ctx.input;
    return (
      <>
        <Phase name="repair">
          <While id="until-tests-pass" condition={!ctx.state.get('passed')} maxIterations={5}>
            <Phase name="test">
              <Task
                id="test"
                run={({ signal }) => testsOf(project, signal)}
                onFinished={({ passed, report }) => {
                  ctx.state.set('passed', passed, { trigger: 'tests.finished' });
                  ctx.state.set('report', report);
                }}
              />
            </Phase>
            <If condition={!ctx.state.get('passed')}>
              <Phase name="edit">
                <Agent
                  id="repair"
                  model={model}
                  cwd={project}
                  maxTurns={10}
                  tools={{ allow: ['read_file', 'edit_file', 'list_files', 'grep'] }}
                  prompt={`The tests of this project fail. Repair the code, not the tests.\n\n${ctx.state.get('report')}`}
                />
              </Phase>
            </If>
          </While>
        </Phase>
        <Phase name="review">
          <If condition={ctx.state.get('passed')} else={<Stop reason="the tests still fail" />}>
            <Human
              id="review"
              prompt="The tests pass. Keep what the agent changed?"
              onFinished={answer => ctx.state.set('approved', (answer as { approved: boolean }).approved)}
            />
          </If>
        </Phase>
      </>
    );
  },
});

function testsOf(project: string, signal: AbortSignal): Promise<{ passed: boolean; report: string }> {
  return new Promise(resolve => {
    execFile('node', ['--test'], { cwd: project, signal }, (error, stdout) =>
      resolve({ passed: error === null, report: stdout.slice(0, 4000) }),
    );
  });
}
