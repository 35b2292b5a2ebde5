// Facts are gathered once; what is written about them depends on the input. A fork tries another input without gathering again.
import { definePlan, Each, Parallel, Phase, Task } from 'signalbox';
import * as z from 'zod';

const changes = ['faster start', 'fewer clicks', 'a dark theme'];

export default definePlan({
  name: 'release-notes',
  description: 'Gathers what changed, and writes it down.',
  input: z.object({ style: z.enum(['list', 'sentence']).default('list').describe('How the notes are written') }),
  state: z.object({ facts: z.array(z.string()).default([]), notes: z.string().optional() }),
  render: ctx => (
    <>
      <Phase name="gather">
        <Parallel limit={1}>
          <Each items={changes}>
            {change => (
              <Task
                key={change}
                id={`look-at ${change}`}
                run={() => `${change} (measured)`}
                onFinished={fact => ctx.state.update('facts', facts => [...facts, fact as string])}
              />
            )}
          </Each>
        </Parallel>
      </Phase>
      <Phase name="write">
        <Task
          id="write"
          input={{ style: ctx.input.style, facts: ctx.state.get('facts') }}
          run={({ input }) => written(input as { style: string; facts: readonly string[] })}
          onFinished={notes => ctx.state.set('notes', notes as string)}
        />
      </Phase>
    </>
  ),
});

function written({ style, facts }: { readonly style: string; readonly facts: readonly string[] }): string {
  return style === 'list' ? facts.map(fact => `- ${fact}`).join('\n') : `New: ${facts.join(', ')}.`;
}
