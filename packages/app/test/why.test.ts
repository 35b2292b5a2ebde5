import { describe, expect, it, onTestFinished } from 'vitest';
import { why } from '../src/why/why.ts';
import { openTestHost, planText } from './support/open-host.ts';
import { temporaryFolder } from './temporary-folder.ts';

const BODY = `
  <Phase name="loop"><While id="l" condition={ctx.state.get('n') < 2} maxIterations={5}>
    <Task id="count" run={() => 1} onFinished={() => ctx.state.update('n', n => n + 1)} />
  </While></Phase>
  <Phase name="branch"><If id="enough" condition={ctx.state.get('n') >= 2} else={<Task id="never" run={() => 1} />}>
    <Task id="yes" run={() => 1} />
  </If></Phase>
  <Phase name="ask"><Human id="ask" prompt="Go on?" /></Phase>
  <Phase name="after"><Task id="after" run={() => 1} /></Phase>`;

describe('a run that a real host drove', () => {
  it('[A106] is explained by its log alone', async () => {
    const test = await openTestHost(temporaryFolder());
    onTestFinished(() => test.close());
    const run = await test.start('why', planText(BODY, 'z.object({ n: z.number().default(0) })'));
    await test.end(run);
    const clock = { now: () => Date.parse('2100-01-01T00:00:00.000Z') };
    const said = async (node?: string) => {
      const answers = await why(test.store, run, node, clock);
      return answers.ok
        ? answers.value.map(({ text }) => text.replace(/ since \S+ \(\d+ days ago\)/, ''))
        : [answers.error.code];
    };
    expect(await said()).toEqual(['The run is waiting.', "The human 'ask' has been waiting for a person: Go on?"]);
    expect(await said('count')).toEqual(["The task 'count' is succeeded.", 'It ran again in turn 2 of its loop.']);
    expect((await said('never')).slice(0, 2)).toEqual([
      "The task 'never' is skipped.",
      "It is in a branch that was not taken: the condition of the if 'enough' is true.",
    ]);
    expect((await said('never')).at(-1)).toMatch(/^Before that, 'n' changed from 1 to 2 \(onFinished of 'count'/);
    expect(await said('after')).toEqual([
      "The task 'after' is idle.",
      "It has not been reached: the phase 'ask' before it is blocked.",
    ]);
    expect(await said('nobody')).toEqual(["The log has no node 'nobody' that is in the plan or did any work."]);
  });
});
