import { definePlan, Phase, Recover, Task, While } from 'signalbox';
import * as z from 'zod';

const fails = () => {
  throw new Error('for good');
};

/** Failures that are caught: in a loop whose first turn fails, around each other, by a fallback that is nothing. */
export default definePlan({
  name: 'recover',
  state: z.object({ turns: z.number().default(0), mended: z.array(z.string()).default([]) }),
  render: ctx => (
    <>
      <Phase name="loop">
        <While id="loop" condition={() => ctx.state.get('turns') < 2}>
          <Recover
            id="each"
            fallback={
              <Task
                id="mend"
                run={() => 'mended'}
                onFinished={word => {
                  ctx.state.update('mended', mended => [...mended, word]);
                  ctx.state.update('turns', turns => turns + 1);
                }}
              />
            }
          >
            <Task
              id="first-fails"
              retries={0}
              run={({ iteration }) => (iteration === 0 ? fails() : iteration)}
              onFinished={() => ctx.state.update('turns', turns => turns + 1)}
            />
          </Recover>
        </While>
      </Phase>
      <Phase name="nested">
        <Recover id="outer" fallback={<Task id="last" run={() => 1} />}>
          <Recover id="inner" fallback={<Task id="worse" retries={0} run={fails} />}>
            <Task id="bad" retries={0} run={fails} />
          </Recover>
        </Recover>
      </Phase>
      <Phase name="nothing">
        <Recover fallback={null}>
          <Task id="given-up" retries={0} run={fails} />
        </Recover>
      </Phase>
    </>
  ),
});
