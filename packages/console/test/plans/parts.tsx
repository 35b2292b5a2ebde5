// Goes on by one each time that a person says so, and keeps for people to see how far it is.
import { definePlan, Human, Phase, Task, While } from 'signalbox';
import * as z from 'zod';

const dot =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

export default definePlan({
  name: 'parts',
  input: z.object({ parts: z.number().default(3), words: z.string().default('') }),
  state: z.object({ done: z.number().default(0) }),
  render: ctx => (
    <While id="parts" condition={ctx.state.get('done') < ctx.input.parts} maxIterations={50}>
      <Phase name="ask">
        <Human id="go-on" prompt="Go on with the next part?" />
      </Phase>
      <Phase name="make">
        <Task
          id="part"
          run={async ({ artifact }) => {
            const done = ctx.state.get('done') + 1;
            await artifact.progress('Parts', done, ctx.input.parts, { key: 'parts', label: 'parts' });
            await artifact.markdown(`Part ${done}`, ctx.input.words === '' ? `Part ${done} is made.` : ctx.input.words);
            if (done === 1) await artifact.image('Dot', dot, { alt: 'One dot' });
            return done;
          }}
          onFinished={done => ctx.state.set('done', Number(done))}
        />
      </Phase>
    </While>
  ),
});
