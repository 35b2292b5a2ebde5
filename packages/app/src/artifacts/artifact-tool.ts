import { type ArtifactId, defined, deriveId, json } from '@signalbox/model';
import {
  type ArtifactInput,
  type ArtifactPorts,
  type Assignment,
  draftArtifact,
  publishArtifact,
} from '@signalbox/runs';
import { type AnyTool, defineTool, fail, succeed, type ToolReply } from '@signalbox/state';
import * as z from 'zod';

const short = z.string().min(1).max(256);

/** One flat object: not every provider accepts alternatives as a tool's input. */
const input = z.strictObject({
  kind: z.enum(['markdown', 'table', 'progress', 'link', 'image']),
  name: short.describe('The name that people see.'),
  key: short.optional().describe('Use the same key again to replace the shown version; earlier versions are kept.'),
  content: z.string().optional().describe('For markdown: the text.'),
  columns: z.array(z.string()).optional().describe('Of a table.'),
  rows: z.array(z.record(z.string(), json)).optional().describe('For a table: objects whose members are columns.'),
  current: z.number().optional().describe('For progress: from 0 to total.'),
  total: z.number().optional().describe('Of progress.'),
  url: z.string().optional().describe('For a link: http, https, mailto or artifact.'),
  label: z.string().optional().describe('For progress or a link.'),
  path: z.string().optional().describe('For an image: a file in the working directory.'),
  alt: short.optional().describe('For an image: what it shows.'),
});
type Input = z.infer<typeof input>;

/** The facts about the tool that need no task. */
export const ARTIFACT_TOOL = {
  name: 'artifact',
  description: 'Publishes something for people to see: markdown, a table, progress, a link or an image.',
  risk: 'low',
  effects: { kind: 'read-only' },
} as const;

const output = z.strictObject({ ref: z.string() });

/** The tool as a model sees it, without a task to use it. */
export const artifactToolForm: AnyTool = defineTool({
  ...ARTIFACT_TOOL,
  input,
  output,
  handler: async () => fail('There is no task to attach this to.'),
});

/** Lets an agent show something to people. A call repeated after a crash stores it once. */
export function artifactTool(ports: ArtifactPorts, { run, task, node }: Assignment): AnyTool {
  return defineTool({
    ...ARTIFACT_TOOL,
    input,
    output,
    async handler(given, { callId, files }): Promise<ToolReply<{ ref: string }>> {
      const asked = await inputOf(given, async name => {
        const read = await files.read(name);
        return read.ok ? read.value : read.error.message;
      });
      if (typeof asked === 'string') return fail(asked);
      const draft = draftArtifact(asked);
      if (!draft.ok) return fail(draft.error.message);
      const id = deriveId<ArtifactId>('artifact', run, task, 'call', callId);
      const kept = await publishArtifact(ports, id, draft.value, { run, node, task });
      return kept.ok ? succeed({ ref: `artifact://${kept.value}` }) : fail(kept.error.message);
    },
  });
}

/** The input, or what is missing. */
async function inputOf(
  given: Input,
  readFile: (path: string) => Promise<Uint8Array | string>,
): Promise<ArtifactInput | string> {
  const { kind, name, key, content, columns, rows, current, total, url, label, path, alt } = given;
  const base = { name, ...defined({ key }) };
  const missing = (...fields: readonly string[]) => `A ${kind} needs ${fields.join(' and ')}.`;
  switch (kind) {
    case 'markdown':
      return content === undefined ? missing('content') : { ...base, kind, content };
    case 'table':
      return columns === undefined || rows === undefined
        ? missing('columns', 'rows')
        : { ...base, kind, columns, rows };
    case 'progress':
      return current === undefined || total === undefined
        ? missing('current', 'total')
        : { ...base, kind, current, total, label };
    case 'link':
      return url === undefined ? missing('url') : { ...base, kind, url, label };
    case 'image': {
      if (path === undefined) return missing('path');
      const data = await readFile(path);
      return typeof data === 'string' ? data : { ...base, kind, data, alt };
    }
  }
}
