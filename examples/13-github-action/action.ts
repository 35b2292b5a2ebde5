// A GitHub Action that runs a plan: a job summary with every step, outputs for the steps after it, and a failure if the plan fails.
// Nobody can answer questions there, so they are denied.
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { openSignalbox } from 'signalbox/embed';

const { GITHUB_WORKSPACE = '.', GITHUB_OUTPUT, GITHUB_STEP_SUMMARY, RUNNER_TEMP = '.' } = process.env;
const { INPUT_PLAN = 'plan.tsx', INPUT_INPUT = '{}' } = process.env;

await using signalbox = await openSignalbox({ dataDirectory: path.join(RUNNER_TEMP, 'signalbox') });
signalbox.onQuestion(({ node, prompt, answer }) => {
  console.log(`::warning title=${node}::Nobody can answer in a workflow, so it was denied: ${prompt}`);
  void answer({ approve: false, reason: 'Nobody can answer in a workflow.' });
});

const run = await signalbox.plan(path.resolve(GITHUB_WORKSPACE, INPUT_PLAN)).start(JSON.parse(INPUT_INPUT));
const steps: string[] = [];
run.subscribe(
  event => {
    if (event.type !== 'task.ended') return;
    const mark = event.outcome === 'done' ? '✓' : '✗';
    steps.push(`| ${mark} | ${String(event.node)} |`);
    console.log(`${mark} ${String(event.node)}`);
  },
  { from: 0 },
);
const { id, status, output, error, reason } = await run.finished();

if (GITHUB_OUTPUT) appendFileSync(GITHUB_OUTPUT, `run=${id}\nstatus=${status}\n`);
if (GITHUB_STEP_SUMMARY) {
  const end = error?.message ?? reason ?? `\`\`\`json\n${JSON.stringify(output, null, 2)}\n\`\`\``;
  appendFileSync(
    GITHUB_STEP_SUMMARY,
    `## ${INPUT_PLAN}: ${status}\n\n${end}\n\n| | step |\n|---|---|\n${steps.join('\n')}\n`,
  );
}
if (status !== 'completed') {
  console.log(
    `::error file=${INPUT_PLAN}${error?.thrown ? `,line=${error.thrown.line}` : ''}::${error?.message ?? reason ?? status}`,
  );
  process.exitCode = 1;
}
