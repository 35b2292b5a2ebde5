/** The plans of the live demo, as files by name. They run on scripted models: no keys, no network. */
export const showFiles: Readonly<Record<string, string>> = {
  'release.tsx': `// Writes release notes, asks a person, and publishes. What the agent writes waits for an approval.
import { Agent, definePlan, Human, If, Parallel, Phase, Task } from 'signalbox';
import * as z from 'zod';

const pause = (ms: number, signal: AbortSignal) =>
  new Promise<void>(resolve => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => { clearTimeout(timer); resolve(); }, { once: true });
  });

export default definePlan({
  name: 'release',
  input: z.object({ version: z.string().default('1.4.0'), pace: z.number().default(1200) }),
  state: z.object({
    changes: z.array(z.string()).default([]),
    checks: z.record(z.string(), z.string()).default({}),
    notes: z.string().default(''),
    approved: z.boolean().optional(),
  }),
  render: ctx => (
    <>
      <Phase name="collect">
        <Task
          id="changes"
          run={async ({ signal }) => {
            await pause(ctx.input.pace, signal);
            return ['Runs can be forked from any frame', 'Tool calls can be undone', 'Bundles verify offline'];
          }}
          onFinished={changes => ctx.state.set('changes', changes)}
        />
      </Phase>
      <Phase name="check">
        <Parallel>
          {['types', 'tests', 'links'].map(name => (
            <Task
              key={name}
              id={'check-' + name}
              run={async ({ signal }) => {
                await pause(ctx.input.pace * (1 + name.length / 5), signal);
                return 'ok';
              }}
              onFinished={result => ctx.state.update('checks', all => ({ ...all, [name]: result }))}
            />
          ))}
        </Parallel>
      </Phase>
      <Phase name="write">
        <Agent
          id="notes"
          model="scripted:models/release.json"
          maxTurns={6}
          permissions="gated"
          tools={{ allow: ['read_file', 'write_file'] }}
          prompt={'Write the release notes of ' + ctx.input.version + ':\\n' + ctx.state.get('changes').join('\\n')}
          onFinished={notes => ctx.state.set('notes', notes)}
        />
      </Phase>
      <Phase name="review">
        <Human
          id="review"
          prompt={'Publish ' + ctx.input.version + '?\\n\\n' + ctx.state.get('notes')}
          onFinished={answer => ctx.state.set('approved', (answer as { approved: boolean }).approved)}
        />
      </Phase>
      <Phase name="publish">
        <If condition={ctx.state.get('approved') === true}>
          <Task id="publish" effects="external" run={() => 'published ' + ctx.input.version} />
        </If>
      </Phase>
    </>
  ),
});
`,
  'import-orders.tsx': `// Reads orders from three places; one of them does not answer, however often it is asked.
import { definePlan, Each, Phase, Task } from 'signalbox';
import * as z from 'zod';

export default definePlan({
  name: 'import-orders',
  state: z.object({ orders: z.record(z.string(), z.number()).default({}) }),
  render: ctx => (
    <Phase name="read">
      <Each items={['berlin', 'lisbon', 'oslo']}>
        {place => (
          <Task
            key={place}
            id={'read-' + place}
            retries={2}
            run={() => {
              if (place === 'oslo') throw new Error('connect ECONNREFUSED orders.oslo.example:443');
              return place.length * 7;
            }}
            onFinished={count => ctx.state.update('orders', all => ({ ...all, [place]: count }))}
          />
        )}
      </Each>
    </Phase>
  ),
});
`,
  'watch-prices.tsx': `// Looks again and again, and keeps what it saw: something to watch while it works.
import { definePlan, Phase, Task, While } from 'signalbox';
import * as z from 'zod';

export default definePlan({
  name: 'watch-prices',
  input: z.object({ turns: z.number().default(200), pace: z.number().default(1500) }),
  state: z.object({ price: z.number().default(100), highest: z.number().default(100), looks: z.number().default(0) }),
  render: ctx => (
    <While id="watching" condition={ctx.state.get('looks') < ctx.input.turns} maxIterations={ctx.input.turns}>
      {({ iteration }) => (
        <Phase name="look">
          <Task
            id="look"
            input={{ iteration }}
            run={async ({ signal }) => {
              await new Promise<void>(resolve => {
                const timer = setTimeout(resolve, ctx.input.pace);
                signal.addEventListener('abort', () => { clearTimeout(timer); resolve(); }, { once: true });
              });
              return Math.round(100 + 20 * Math.sin(iteration / 3) + iteration / 10);
            }}
            onFinished={price => {
              ctx.state.set('price', price, { trigger: 'price.seen' });
              ctx.state.update('highest', highest => Math.max(highest, price));
              ctx.state.update('looks', looks => looks + 1);
            }}
          />
        </Phase>
      )}
    </While>
  ),
});
`,
  'weekly-report.tsx': `// Counts, draws, and lets a model put it into words: what it made is among the artifacts.
import { Agent, definePlan, Phase, Task } from 'signalbox';
import * as z from 'zod';

const chart =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAGAAAAAwAQMAAADU2O2MAAAABlBMVEXm7OgujGKdzL6AAAAALklEQVR42mNgoAjw/yGZ8/881Tj/D5DK4f+Dh3P+D3U4/H/I4UBYJHDgrKHEAQCR9Tp6PylhiQAAAABJRU5ErkJggg==';

export default definePlan({
  name: 'weekly-report',
  description: 'Counts the orders of a week, draws them, and has a model put them into words.',
  input: z.object({
    week: z.number().int().min(1).max(53).default(46).describe('The week of the year.'),
    audience: z.enum(['team', 'customers']).default('team').describe('Who reads it.'),
  }),
  state: z.object({ words: z.string().default('') }),
  render: ctx => (
    <>
      <Phase name="count">
        <Task
          id="count"
          run={async ({ artifact }) => {
            for (const done of [1, 2, 3]) {
              await artifact.progress('Places counted', done, 3, { key: 'places', label: 'places' });
            }
            await artifact.table('Orders', ['place', 'orders', 'change'], [
              { place: 'Berlin', orders: 42, change: 3 },
              { place: 'Lisbon', orders: 57, change: 12 },
              { place: 'Oslo', orders: 0, change: -3 },
            ]);
            await artifact.image('Orders by week', chart, { alt: 'Orders of eight weeks, growing' });
            await artifact.link('Dashboard', 'https://orders.example/weeks/' + ctx.input.week, { label: 'all weeks' });
          }}
        />
      </Phase>
      <Phase name="write">
        <Agent
          id="words"
          model="anthropic:demo-model"
          maxTurns={2}
          prompt={'Say in two sentences, for the ' + ctx.input.audience + ', how week ' + ctx.input.week + ' went.'}
          onFinished={said => ctx.state.set('words', String(said))}
        />
      </Phase>
      <Phase name="hand-over">
        <Task
          id="hand-over"
          run={async ({ artifact }) => {
            await artifact.markdown('Week ' + ctx.input.week, '## Week ' + ctx.input.week + '\\n\\n' + ctx.state.get('words'));
          }}
        />
      </Phase>
    </>
  ),
});
`,
  'models/release.json': JSON.stringify(
    {
      version: 1,
      rules: [
        {
          when: { turn: 1 },
          thinking: 'Three changes. Each gets a line that says what a user can do now.',
          text: 'I write them down.',
          calls: [
            {
              tool: 'write_file',
              input: {
                path: 'NOTES.md',
                content:
                  '# Release notes\n\n- Fork a run from any frame and compare.\n- Undo what a tool call changed.\n- Verify a bundle offline.\n',
              },
            },
          ],
        },
        { text: 'Fork a run from any frame and compare. Undo what a tool call changed. Verify a bundle offline.' },
      ],
    },
    null,
    2,
  ),
};
