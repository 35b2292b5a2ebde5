import { definePlan, Human, If, Phase, Task } from 'signalbox';
import * as z from 'zod';

/** An order: stock is reserved, a person agrees to large ones, and it is shipped. */
export default definePlan({
  name: 'order',
  input: z.object({
    id: z.string(),
    item: z.string(),
    count: z.number().int().positive(),
    ledger: z.string().describe('The file that stands for the warehouse'),
  }),
  state: z.object({
    reserved: z.boolean().default(false),
    agreed: z.boolean().default(false),
    shipped: z.string().optional(),
  }),
  render: ctx => {
    const { id, item, count, ledger } = ctx.input;
    const note = async (line: string) => {
      const { appendFile } = await import('node:fs/promises');
      await appendFile(ledger, `${line} ${id}\n`);
    };
    return (
      <>
        <Phase name="reserve">
          <Task
            id="reserve"
            run={() => note(`reserve ${count} ${item}`)}
            onFinished={() => ctx.state.set('reserved', true)}
          />
        </Phase>
        <If condition={count >= 100}>
          <Phase name="agree">
            <Human id="agree" prompt={`Ship ${count} × ${item}?`} onFinished={() => ctx.state.set('agreed', true)} />
          </Phase>
        </If>
        <Phase name="ship">
          <Task
            id="ship"
            run={async () => {
              await note(`ship ${count} ${item}`);
              return `parcel-${id}`;
            }}
            onFinished={parcel => ctx.state.set('shipped', parcel)}
          />
        </Phase>
      </>
    );
  },
});
