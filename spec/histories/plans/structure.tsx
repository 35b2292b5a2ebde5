import { definePlan, Each, If, Parallel, Phase, Step, Task, While } from 'signalbox';
import * as z from 'zod';

/** Phases, steps, parallel work, lists, loops in loops, and branches that are taken and left. */
export default definePlan({
  name: 'structure',
  state: z.object({
    items: z.array(z.string()).default(['a', 'b']),
    outer: z.number().default(0),
    inner: z.number().default(0),
    log: z.array(z.string()).default([]),
  }),
  render: ctx => {
    const note = (text: string) =>
      ctx.state.update('log', log => [...log, `${text} ${ctx.random() < 0.5 ? 'left' : 'right'}`]);
    return (
      <>
        <Phase name="prepare">
          <Step>
            <Task id="first" run={() => 1} onFinished={() => note('first')} />
          </Step>
          <Step>
            <Parallel limit={1}>
              <Each items={ctx.state.get('items')}>
                {item => <Task key={item} id={`do ${item}`} run={() => item} onFinished={note} />}
              </Each>
            </Parallel>
          </Step>
        </Phase>
        <Phase name="repeat">
          <While id="outer" condition={() => ctx.state.get('outer') < 2} maxIterations={3}>
            <While
              id="inner"
              condition={() => ctx.state.get('inner') < 2 * (ctx.state.get('outer') + 1)}
              maxIterations={4}
            >
              <Task
                id="turn"
                run={({ iteration }) => iteration}
                onFinished={() => ctx.state.update('inner', n => n + 1)}
              />
            </While>
            <Task id="round" run={() => 0} onFinished={() => ctx.state.update('outer', n => n + 1)} />
          </While>
        </Phase>
        <Phase name="verify">
          <If condition={ctx.state.get('inner') > 3} else={<Task id="few" run={() => 0} />}>
            <Task id="many" run={() => 0} onFinished={() => ctx.state.set('items', ['b', 'c'])} />
          </If>
        </Phase>
      </>
    );
  },
});
