import { definePlan, Human, If, Parallel, Phase, Task } from 'signalbox';
import * as z from 'zod';

/** What a workflow might check before a release. */
export default definePlan({
  name: 'check',
  input: z.object({ version: z.string().default('1.0.0'), release: z.boolean().default(false) }),
  state: z.object({ checked: z.array(z.string()).default([]) }),
  render: ctx => {
    const checked = (name: string) => ctx.state.update('checked', all => [...all, name].sort());
    return (
      <>
        <Phase name="check">
          <Parallel>
            <Task
              id="version"
              run={() => {
                if (!/^\d+\.\d+\.\d+$/.test(ctx.input.version))
                  throw new TypeError(`"${ctx.input.version}" is no version`);
              }}
              retry={{ attempts: 1 }}
              onFinished={() => checked('version')}
            />
            <Task id="notes" run={() => 'There are notes.'} onFinished={() => checked('notes')} />
          </Parallel>
        </Phase>
        <If condition={ctx.input.release}>
          <Phase name="release">
            <Human id="release" prompt={`Release ${ctx.input.version}?`} />
          </Phase>
        </If>
      </>
    );
  },
});
