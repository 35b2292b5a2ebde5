import type { McpServer, Resource } from '@modelcontextprotocol/server';
import type { GuidedTools, ResumeAnswer, StepAnswer } from '@signalbox/app/guided';
import { defined, type ErrorEnvelope, failure, truncateUtf8 } from '@signalbox/model';
import { type Guarded, refusal, whole } from './agent-prompts.ts';
import { answerTexts } from './answer-text.ts';

const SCHEME = 'signalbox://guided/';
const TEXT = 'text/markdown';

const kinds = ['step', 'recap'] as const;
type Kind = (typeof kinds)[number];
type Candidate = ResumeAnswer['candidates'][number];

const described: Readonly<Record<Kind, string>> = {
  step: 'The current step of a run: its prompt, what happened before, and the next call with fresh tokens.',
  recap: 'What the steps of a run handed in: notes and artifacts, oldest first.',
};

/** The bytes of one output in a recap. */
const OUTPUT_BYTES = 4_096;

/** The current step and the recap of each of the latest runs, which are those that `resume_session` offers. Reading changes nothing. */
export function serveResources(server: McpServer, tools: GuidedTools, guarded: Guarded): void {
  const latest = async () => whole(await tools.resume({})).candidates;
  server.server.setRequestHandler('resources/list', () =>
    guarded('step', async () => ({ resources: (await latest()).flatMap(resourcesOf) })),
  );
  server.server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: kinds.map(kind => ({
      name: kind,
      uriTemplate: `${SCHEME}{run}/${kind}`,
      description: described[kind],
      mimeType: TEXT,
    })),
  }));
  server.server.setRequestHandler('resources/read', ({ params: { uri } }) => {
    const [run, kind, ...more] = uri.startsWith(SCHEME) ? uri.slice(SCHEME.length).split('/') : [];
    const known = more.length === 0 ? kinds.find(each => each === kind) : undefined;
    if (known === undefined) throw refusal(unknownResource(uri));
    return guarded(known, async () => {
      const candidate = (await latest()).find(({ runId }) => runId === run);
      if (candidate === undefined) throw refusal(notLatest(run ?? ''));
      const text = known === 'step' ? stepText : recapText;
      return { contents: [{ uri, mimeType: TEXT, text: await text(tools, candidate) }] };
    });
  });
}

function resourcesOf({ workflow, runId, pendingStep }: Candidate): readonly Resource[] {
  const at = pendingStep === null ? 'complete' : pendingStep.title;
  const titles: Readonly<Record<Kind, string>> = {
    step: `${workflow.name}: ${at}`,
    recap: `${workflow.name}: recap`,
  };
  return kinds.map(kind => ({
    uri: `${SCHEME}${runId}/${kind}`,
    name: `${workflow.workflowId} ${kind}`,
    title: titles[kind],
    description: described[kind],
    mimeType: TEXT,
  }));
}

async function stepText(tools: GuidedTools, candidate: Candidate): Promise<string> {
  return answerTexts.start(await shown(tools, candidate));
}

async function recapText(tools: GuidedTools, candidate: Candidate): Promise<string> {
  const { workflow, runId, outputs = [] } = await shown(tools, candidate);
  const outputIds = outputs.map(({ outputId }) => outputId);
  const read = outputIds.length === 0 ? [] : ((await shown(tools, candidate, outputIds)).outputs ?? []);
  return [
    `# ${workflow.name}\nworkflow ${workflow.workflowId}, run ${runId}`,
    ...(read.length === 0 ? ['Nothing was handed in yet.'] : read.map(outputText)),
  ].join('\n\n');
}

function outputText({ stepInstanceKey, outputChannel, outputId, content }: NonNullable<StepAnswer['outputs']>[number]) {
  const said = typeof content === 'string' ? content : `\`\`\`json\n${JSON.stringify(content, undefined, 2)}\n\`\`\``;
  const what = outputChannel === 'recap' ? 'notes' : 'artifact';
  return `## ${stepInstanceKey}, ${what} ${outputId}\n${truncateUtf8(said, OUTPUT_BYTES)}`;
}

async function shown(
  tools: GuidedTools,
  { stateToken }: Candidate,
  outputIds?: readonly string[],
): Promise<StepAnswer> {
  return whole(
    await tools.continue({ intent: 'rehydrate', stateToken, ...defined({ outputIds: outputIds && [...outputIds] }) }),
  );
}

function unknownResource(uri: string): ErrorEnvelope {
  return failure('request/unknown-route', {
    message: `There is no resource ${uri.slice(0, 200)}.`,
    suggestion: 'List the resources and their templates.',
  });
}

function notLatest(run: string): ErrorEnvelope {
  return failure('run/unknown', {
    message: `Run ${run.slice(0, 64)} is not one of the latest runs.`,
    suggestion: 'List the resources for those that are; find an older run with resume_session.',
  });
}
