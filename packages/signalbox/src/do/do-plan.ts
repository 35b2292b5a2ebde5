import type { DoAttempt } from './do-agents.ts';

export interface DoTask {
  readonly task: string;
  readonly attempts: readonly DoAttempt[];
  readonly apply: string;
  readonly check?: string | undefined;
}

/** The plan of a task: one agent, or several side by side, of which one is kept at most. */
export function doPlan({ task, attempts, apply, check }: DoTask): string {
  const [first] = attempts;
  const facts = `const task = ${JSON.stringify(task)};\nconst check = ${JSON.stringify(check) ?? 'undefined'};\n`;
  if (attempts.length === 1)
    return `import { Agent, definePlan } from 'signalbox';

${facts}
export default definePlan({
  name: 'do',
  render: () => <Agent id=${quoted(first?.id)} plugin=${quoted(first?.agent)} apply=${quoted(apply)} check={check} prompt={task} />,
});
`;
  return `import { Agent, definePlan, Each, If, Keep, Parallel } from 'signalbox';
import * as z from 'zod';

${facts}const attempts = ${JSON.stringify(attempts, null, 2)};

export default definePlan({
  name: 'do',
  state: z.object({
    done: z.array(z.string()).default([]),
    failed: z.array(z.string()).default([]),
    kept: z.string().nullable().optional(),
  }),
  render: ctx => {
    const failed = ctx.state.get('failed');
    return (
      <>
        <Parallel>
          <Each items={attempts.filter(({ id }) => !failed.includes(id))}>
            {({ id, agent }) => (
              <Agent
                key={id}
                id={id}
                plugin={agent}
                apply="hold"
                check={check}
                prompt={task}
                onFinished={() => ctx.state.update('done', all => [...all, id])}
                onError={() => ctx.state.update('failed', all => [...all, id])}
              />
            )}
          </Each>
        </Parallel>
        <If condition={ctx.state.get('done').length + failed.length === attempts.length}>
          <Keep
            id="keep"
            from={attempts.map(({ id }) => id)}
            apply=${quoted(apply === 'auto' ? 'check' : apply)}
            onFinished={({ kept }) => ctx.state.set('kept', kept)}
          />
        </If>
      </>
    );
  },
});
`;
}

function quoted(text: string | undefined): string {
  return `{${JSON.stringify(text)}}`;
}
