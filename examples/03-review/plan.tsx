// A person decides. While the run waits nothing is running, and nothing is lost: it goes on in any process.
import { definePlan, Human, If, Phase, Task, While } from 'signalbox';
import * as z from 'zod';

export default definePlan({
  name: 'review',
  description: 'Drafts a text until a person publishes or drops it.',
  input: z.object({ subject: z.string().default('Signalbox').describe('What the text is about') }),
  state: z.object({
    draft: z.string().default(''),
    verdict: z.enum(['publish', 'revise', 'drop']).default('revise'),
  }),
  render: ctx => {
    const draft = ctx.state.get('draft');
    return (
      <>
        <Phase name="write">
          <While id="until-it-is-decided" condition={ctx.state.get('verdict') === 'revise'} maxIterations={5}>
            {({ iteration }) => (
              <>
                <Phase name="draft">
                  <Task
                    id="draft"
                    input={{ subject: ctx.input.subject, version: iteration + 1 }}
                    run={() => `${ctx.input.subject} is here. (version ${iteration + 1})`}
                    onFinished={text => ctx.state.set('draft', text)}
                  />
                </Phase>
                <Phase name="review">
                  <Human
                    id="review"
                    prompt={`Publish this? ${draft}`}
                    options={[{ id: 'publish' }, { id: 'revise', label: 'write it anew' }, { id: 'drop' }]}
                    onFinished={chosen => ctx.state.set('verdict', chosen as 'publish' | 'revise' | 'drop')}
                  />
                </Phase>
              </>
            )}
          </While>
        </Phase>
        <Phase name="publish">
          <If condition={ctx.state.get('verdict') === 'publish'}>
            <Task id="publish" effects="external" run={() => `published: ${draft}`} />
          </If>
        </Phase>
      </>
    );
  },
});
