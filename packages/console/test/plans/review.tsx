// What a person does to a run: an agent that fails until a file says otherwise, state that sends the plan another way.
import { Agent, definePlan, Human, If, Phase, Task, While } from 'signalbox';
import * as z from 'zod';

export default definePlan({
  name: 'review',
  input: z.object({
    /** Where the agent works. */
    project: z.string(),
    /** What the rounds are called. */
    title: z.string().default('One round'),
  }),
  state: z.object({
    rounds: z.number().default(0),
    verdict: z.string().default('open'),
    shipping: z.enum(['undecided', 'yes']).default('undecided'),
  }),
  render: ctx => {
    const { project, title } = ctx.input;
    return (
      <>
        <Phase name="rounds">
          <While id="rounds" condition={ctx.state.get('rounds') < 3} maxIterations={5}>
            <Task
              id="round"
              label={title}
              run={() => ctx.state.get('rounds') + 1}
              onFinished={round => {
                ctx.state.set('rounds', Number(round), { trigger: 'round.done' });
                ctx.vol.set('mood', `after round ${round}`);
              }}
            />
          </While>
        </Phase>
        <Phase name={`review, ${ctx.vol.get('mood') ?? 'before any round'}`} id="reviewing">
          <Agent
            id="reviewer"
            label="Review it"
            model="scripted:models/review.json"
            system="You review. Nothing else."
            cwd={project}
            tools={{ allow: ['read_file'] }}
            prompt="Read ANSWER.md, and say whether it is ready."
            schema={z.object({ verdict: z.enum(['ready', 'not ready']) })}
            retries={0}
            onFinished={({ verdict }) => ctx.state.set('verdict', verdict)}
            onError={() => ctx.state.set('verdict', 'unknown')}
          />
        </Phase>
        <Phase name="ship">
          <If condition={ctx.state.get('shipping') === 'yes'}>
            <Task id="ship" label="Ship it" run={() => 'shipped'} />
          </If>
          <Human id="sign" prompt="Is all of it as it should be?" />
        </Phase>
      </>
    );
  },
});
