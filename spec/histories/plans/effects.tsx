import { definePlan, Effect, Phase, Task } from 'signalbox';
import * as z from 'zod';

let told = 0;

/** Effects that write, that hold something, and that write volatile state; a query; a file that renders read and handlers write. */
export default definePlan({
  name: 'effects',
  state: z.object({ n: z.number().default(0), noted: z.string().optional(), late: z.number().optional() }),
  render: ctx => {
    const done = ctx.db.query<{ count: number }>("select count(*) as count from tasks where status = 'done'", {
      invalidateOn: ['tasks'],
    });
    return (
      <>
        <Effect
          id="note"
          deps={[ctx.state.get('n')]}
          run={() => {
            told += 1;
            ctx.state.set('noted', `${told} at ${Date.now()}`);
            ctx.vol.set('told', told);
            return () => undefined;
          }}
        />
        <Phase name={`told ${ctx.vol.get('told') ?? 'nothing'}, done ${done[0]?.count ?? 0}`}>
          <Task id="one" run={() => Math.random()} onFinished={() => ctx.state.update('n', n => n + 1)} />
        </Phase>
        <Phase name={`file: ${ctx.fs.read('note.txt') ?? 'none'}`}>
          <Task
            id="two"
            run={() => {
              ctx.state.set('late', Date.now() % 7);
              return 2;
            }}
            onFinished={() => {
              ctx.fs.write('note.txt', `n is ${ctx.state.get('n')}`);
              ctx.state.update('n', n => n + 1);
            }}
          />
        </Phase>
      </>
    );
  },
});
