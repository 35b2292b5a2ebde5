// What the console's tests and pictures show: a loop, an agent that must ask, a task that can fail, a person who decides.
import { existsSync } from 'node:fs';
import { Agent, definePlan, Human, If, Phase, Step, Task, While } from 'signalbox';
import * as z from 'zod';

function health(broken: string) {
  if (existsSync(broken)) throw new Error('The page at /health answered 503: the database is not there.');
  return { answered: 200 };
}

export default definePlan({
  name: 'release',
  input: z.object({
    version: z.string().default('2.4.0'),
    checks: z.number().default(6),
    /** Where agents work. */
    project: z.string(),
    /** While this file is there, the smoke test fails. */
    broken: z.string().default(''),
  }),
  state: z.object({
    checks: z.number().default(0),
    report: z.record(z.string(), z.string()).default({}),
    rollout: z.enum(['undecided', 'everybody', 'a-tenth', 'nobody']).default('undecided'),
  }),
  signals: { freeze: { schema: z.object({ until: z.string() }), handle: () => {} } },
  render: ctx => {
    const { version, checks, project, broken } = ctx.input;
    const rollout = ctx.state.get('rollout');
    return (
      <>
        <Phase name="check">
          <While id="checks" condition={ctx.state.get('checks') < checks} maxIterations={50}>
            <Task
              id="check"
              label="Check a part"
              run={() => ctx.state.get('checks') + 1}
              onFinished={part => {
                ctx.state.set('checks', Number(part), { trigger: 'check.passed' });
                ctx.state.update('report', all => ({ ...all, [`part ${part}`]: 'sound' }));
              }}
            />
          </While>
        </Phase>
        <Phase name="prepare">
          <Step name="write">
            <Agent
              id="changelog"
              label="Write the change log"
              model="scripted:models/release.json"
              cwd={project}
              permissions="gated"
              maxTurns={8}
              tools={{ allow: ['read_file', 'edit_file'] }}
              prompt={`Put the heading of version ${version} on top of CHANGES.md.`}
              onFinished={said => ctx.state.update('report', all => ({ ...all, 'change log': String(said) }))}
            />
          </Step>
        </Phase>
        <Phase name="verify">
          <Task id="smoke-test" label="Smoke test" retries={0} run={() => health(broken)} />
        </Phase>
        <Phase name="ship">
          <Human
            id="rollout"
            prompt={`Version ${version} is ready. Who gets it?`}
            options={[
              { id: 'everybody', label: 'Everybody at once' },
              { id: 'a-tenth', label: 'A tenth first' },
              { id: 'nobody', label: 'Nobody yet' },
            ]}
            onFinished={chosen => ctx.state.set('rollout', chosen as 'everybody' | 'a-tenth' | 'nobody')}
          />
          <If condition={rollout === 'everybody' || rollout === 'a-tenth'}>
            <Task id="publish" label="Publish" effects="external" run={() => `published to ${rollout}`} />
          </If>
        </Phase>
      </>
    );
  },
});
