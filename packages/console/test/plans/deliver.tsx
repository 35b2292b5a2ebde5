// Fails as long as a file is there: what the console shows of failures is made with it.
import { existsSync } from 'node:fs';
import { definePlan, Task } from 'signalbox';
import * as z from 'zod';

export default definePlan({
  name: 'deliver',
  input: z.object({ broken: z.string(), parcel: z.number() }),
  render: ctx => (
    <Task
      id="deliver"
      label="Deliver the parcel"
      retries={0}
      run={() => {
        if (existsSync(ctx.input.broken)) throw new Error(`Nobody is at home: parcel ${ctx.input.parcel} came back.`);
        return 'delivered';
      }}
    />
  ),
});
