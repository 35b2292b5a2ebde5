import { definePlan, Human, If, Phase, Task } from 'signalbox';
import * as z from 'zod';

/** Two questions; the second shows what was said to the first. */
export default definePlan({
  name: 'people',
  state: z.object({ first: z.unknown(), second: z.unknown(), blocked: z.number().default(0) }),
  render: ctx => (
    <>
      <Phase name="ask">
        <Human
          id="go"
          prompt="Go on?"
          onBlocked={() => ctx.state.update('blocked', n => n + 1)}
          onFinished={said => ctx.state.set('first', said)}
        />
      </Phase>
      <Phase name="ask again">
        <Human
          id="sure"
          prompt={`Sure? ${JSON.stringify(ctx.state.get('first') ?? null)}`}
          onFinished={said => ctx.state.set('second', said)}
        />
      </Phase>
      <If condition={ctx.state.get('second') !== undefined}>
        <Task id="thanks" run={() => 'thanks'} />
      </If>
    </>
  ),
});
