// Agents side by side, two at a time, each with an answer that fits a schema; then one that puts them together.
import { Agent, definePlan, Each, Parallel, Phase } from 'signalbox';
import * as z from 'zod';

const finding = z.object({ answer: z.string(), confidence: z.number().min(0).max(1) });

export default definePlan({
  name: 'research',
  description: 'Answers questions side by side, and puts the answers together.',
  input: z.object({
    questions: z
      .array(z.string())
      .default(['Who wrote the first compiler?', 'What is a signal box?', 'Why do logs chain hashes?'])
      .describe('What is looked into'),
    model: z.string().default('scripted:models/research.json').describe('The model that answers'),
  }),
  state: z.object({
    findings: z.record(z.string(), finding).default({}),
    report: z.string().optional(),
  }),
  render: ctx => {
    const { model, questions } = ctx.input;
    const findings = ctx.state.get('findings');
    return (
      <>
        <Phase name="ask">
          <Parallel limit={2}>
            <Each items={questions}>
              {question => (
                <Agent
                  key={question}
                  id={`ask: ${question}`}
                  model={model}
                  schema={finding}
                  maxTurns={5}
                  prompt={`Answer in one sentence, and say how sure you are: ${question}`}
                  onFinished={found => ctx.state.update('findings', all => ({ ...all, [question]: found }))}
                />
              )}
            </Each>
          </Parallel>
        </Phase>
        <Phase name="write">
          <Agent
            id="report"
            model={model}
            maxTurns={3}
            prompt={`Write a report of these findings:\n${JSON.stringify(findings, null, 2)}`}
            onFinished={report => ctx.state.set('report', report)}
          />
        </Phase>
      </>
    );
  },
});
