import { definePlan, Human, Phase, Task, While } from 'signalbox';
import * as z from 'zod';

/** Drafts are made until one is short enough; then a person has the last word. */
export default definePlan({
  name: 'short-note',
  state: z.object({ draft: z.string().default(''), tries: z.number().default(0), said: z.unknown() }),
  render: ctx => (
    <>
      <Phase name="write">
        <While
          id="until-short"
          condition={() => ctx.state.get('tries') === 0 || ctx.state.get('draft').length > 40}
          maxIterations={4}
        >
          <Task
            id="write"
            run={({ iteration }) => `Trains run. ${'The box is staffed. '.repeat(3 - iteration)}`.trim()}
            onFinished={text => {
              ctx.state.set('draft', text);
              ctx.state.update('tries', tries => tries + 1);
            }}
          />
        </While>
      </Phase>
      <Phase name="ask">
        <Human
          id="ok"
          prompt={`Send this? ${ctx.state.get('draft')}`}
          onFinished={said => ctx.state.set('said', said)}
        />
      </Phase>
      <Phase name="send">
        <Task id="send" label={`${ctx.state.get('tries')} tries`} run={() => 'sent'} />
      </Phase>
    </>
  ),
});
