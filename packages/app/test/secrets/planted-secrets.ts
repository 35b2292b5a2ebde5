import { randomBytes } from 'node:crypto';

/** Where each planted secret comes from. */
export const kinds = [
  // Used by a plan's code.
  ...(['result', 'thrown', 'state', 'progress', 'input', 'name', 'tag', 'correlation', 'node'] as const),
  ...(['artifactName', 'artifact', 'largeArtifact', 'question', 'rationale', 'broken', 'late'] as const),
  // How it is written there.
  ...(['base64', 'hex', 'address', 'nested'] as const),
  // Agents.
  ...(['prompt', 'split', 'toolInput', 'toolOutput'] as const),
  // Guided sessions.
  ...(['notes', 'context', 'need', 'answer'] as const),
  // Files: the plan's own and those that agents work on.
  ...(['source', 'file'] as const),
] as const;
export type Kind = (typeof kinds)[number];

/** Known by their shape alone: no variable ever held them. */
export const shapes = ['githubToken', 'urlPassword', 'privateKey', 'jwt'] as const;
type Shape = (typeof shapes)[number];

/** `found`: known to nobody until a person finds it. */
export type Planted = Readonly<Record<Kind | Shape | 'found', string>>;

/** Printed once the secret that was found is taken out. */
export const REDACTED = '--- redacted ---';

/** Every time other secrets, put together here so that no file holds one. */
export function plantedSecrets(): Planted {
  const some = (bytes: number) => randomBytes(bytes).toString('hex');
  // With characters that JSON and URLs write otherwise.
  const known = kinds.map(kind => [kind, `${kind}/${some(10)}+"${some(4)}ü`] as const);
  return {
    ...(Object.fromEntries(known) as Record<Kind, string>),
    // Inside a file of code, and where quotes would end the text.
    source: `source-${some(12)}`,
    broken: `broken-${some(12)}`,
    node: `node-${some(12)}`,
    found: `found/${some(10)}+"${some(4)}ü`,
    githubToken: ['ghp', some(18)].join('_'),
    urlPassword: `url${some(10)}`,
    privateKey: some(32),
    jwt: ['eyJ', some(10), '.eyJ', some(20), '.', some(20)].join(''),
  };
}

export const variableOf = (kind: Kind) => `PLANTED_${kind.toUpperCase()}_TOKEN`;

/** The ways in which a secret may be written, as someone would look for it. */
export function writtenForms(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const within = [0, 1, 2].map(shift => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    return text.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
  });
  const quoted = JSON.stringify(secret).slice(1, -1);
  return [
    ...new Set([
      secret,
      quoted,
      JSON.stringify(quoted).slice(1, -1),
      encodeURIComponent(secret),
      bytes.toString('hex'),
      bytes.toString('hex').toUpperCase(),
      ...within,
      ...within.map(text => text.replaceAll('+', '-').replaceAll('/', '_')),
    ]),
  ];
}

export function planOf(folder: string, planted: Planted): string {
  return `
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, definePlan, Human, Phase, Task } from 'signalbox';
import * as z from 'zod';
const planted = JSON.parse(readFileSync(${JSON.stringify(`${folder}/planted.json`)}, 'utf8'));
const IN_THE_SOURCE = ${JSON.stringify(planted.source)};
const waitFor = async file => {
  writeFileSync(file + '.waits', '');
  while (!existsSync(file)) await new Promise(resolve => setTimeout(resolve, 10)); };
export default definePlan({
  name: 'planted',
  input: z.object({ folder: z.string(), note: z.string() }),
  state: z.object({ first: z.any(), words: z.any(), failed: z.any(), told: z.any(), said: z.any(), late: z.any(), ok: z.any() }),
  render: ctx => (
    <>
      <Phase name="plan">
        <Task id={'a node ' + planted.node} run={async ({ progress, artifact }) => {
          progress({ summary: 'with ' + planted.progress });
          await artifact.markdown('a ' + planted.artifactName, 'It is ' + planted.artifact + planted.found);
          await artifact.markdown('large', 'x'.repeat(70_000) + ' ' + planted.largeArtifact);
          return {
            plain: planted.result, found: planted.found, source: IN_THE_SOURCE, [planted.result]: 1, input: ctx.input.note,
            base64: Buffer.from('key: ' + planted.base64 + '!').toString('base64'),
            hex: Buffer.from(planted.hex).toString('hex'),
            address: 'https://example.com/?key=' + encodeURIComponent(planted.address),
            nested: JSON.stringify({ inside: JSON.stringify({ key: planted.nested }) }),
            shapes: [planted.githubToken, planted.jwt, 'postgres://app:' + planted.urlPassword + '@db/app'],
          };
        }} onProgress={({ summary }) => ctx.state.set('told', summary)}
           onFinished={out => { ctx.state.set('first', out); ctx.state.set('words', 'state: ' + planted.state); }} />
        {ctx.state.get('failed') === undefined && <Task id="throws" retries={0}
           run={() => { throw new Error('refused ' + planted.thrown); }}
           onError={({ error }) => ctx.state.set('failed', error.message)} />}
      </Phase>
      <Phase name="agent">
        <Agent id="agent" model="anthropic:claude-test" cwd="work" permissions="skip" maxTurns={6}
          prompt={'Use ' + planted.prompt} onFinished={said => ctx.state.set('said', said)} />
      </Phase>
      <Phase name="hold"><Task id="hold" run={() => waitFor(ctx.input.folder + '/go')} /></Phase>
      <Phase name="later">
        <Task id="late" run={() => planted.late} onFinished={late => ctx.state.set('late', late)} />
      </Phase>
      <Phase name="ask"><Human id="ask" prompt={'Is ' + planted.question + ' right?'} onFinished={ok => ctx.state.set('ok', ok)} /></Phase>
    </>
  ),
});
`;
}
