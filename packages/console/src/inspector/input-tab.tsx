import type { ErrorEnvelope, Json, NodeInput, WireDecision, WireToolPolicy } from '@signalbox/model';
import { JsonView } from '../shell/json-view.tsx';
import { Empty, ErrorBox } from '../shell/notices.tsx';
import { Block } from './block.tsx';
import type { Transcript } from './transcript.ts';

interface InputTabProps {
  readonly input: NodeInput | undefined;
  readonly error: ErrorEnvelope | null;
  readonly transcript: Transcript | undefined;
  /** What it asks a person. */
  readonly asked: WireDecision | undefined;
}

/** Everything that a node was given. Texts are texts: what a prompt holds is not taken for markup. */
export function InputTab({ input, error, transcript, asked }: InputTabProps) {
  if (error !== null) return <ErrorBox error={error} title="What it was given could not be read" />;
  if (input === undefined) return <Empty title="Reading…" />;
  const { prompt, system, model = transcript?.model, schema, tools, props, leftOut } = input;
  const hasAny = prompt ?? system ?? model ?? schema ?? tools ?? asked ?? transcript?.note;
  if (hasAny === undefined && Object.keys(props).length === 0) return <Empty title="It was given nothing" />;
  return (
    <>
      {prompt !== undefined && <LongText title="Prompt" text={prompt} missing={leftOut.prompt} />}
      {system !== undefined && <LongText title="System" text={system} missing={leftOut.system} />}
      {model !== undefined && <Block title="Model">{model}</Block>}
      {transcript?.note !== undefined && <Block title="Told besides">{transcript.note}</Block>}
      {tools !== undefined && <ToolPolicy policy={tools} />}
      {schema !== undefined && (
        <Block title="Its answer must fit">
          <JsonView value={schema} />
        </Block>
      )}
      {asked !== undefined && (
        <Block title="Proposal">
          <JsonView value={asked.decision.proposal} />
        </Block>
      )}
      {Object.keys(props).length > 0 && (
        <Block title="Props">
          <JsonView value={props as Json} />
          {Object.entries(leftOut)
            .filter(([field]) => field.startsWith('props'))
            .map(([field, bytes]) => (
              <Missing key={field} bytes={bytes} of={field} />
            ))}
        </Block>
      )}
      {asked === undefined && <p className="px-3 py-2 text-faint">As frame {input.frame} has it.</p>}
    </>
  );
}

function LongText({
  title,
  text,
  missing,
}: {
  readonly title: string;
  readonly text: string;
  readonly missing: number | undefined;
}) {
  return (
    <Block title={title}>
      <pre className="code">{text}</pre>
      {missing !== undefined && <Missing bytes={missing} />}
    </Block>
  );
}

function Missing({ bytes, of }: { readonly bytes: number; readonly of?: string }) {
  return (
    <p className="text-faint">
      {of !== undefined && `${of}: `}
      {bytes} bytes more are not shown.
    </p>
  );
}

/** What it may use, and what a person must allow first. */
function ToolPolicy({ policy: { allow, deny, permissions, tools = [] } }: { readonly policy: WireToolPolicy }) {
  const offered = tools.filter(tool => tool.offered);
  const others = tools.filter(tool => !tool.offered);
  return (
    <Block title="Tools">
      <p>
        {permissions === 'gated' ? 'A person is asked before what is risky.' : 'Nobody is asked before it uses them.'}
        {allow !== undefined && ` Allowed: ${allow.join(', ')}.`}
        {deny !== undefined && deny.length > 0 && ` Denied: ${deny.join(', ')}.`}
      </p>
      {offered.length > 0 && (
        <ul className="policy">
          {offered.map(({ name, risk, effects, needsApproval }) => (
            <li key={name}>
              <code>{name}</code>
              <span className="text-faint">
                {risk} risk, {effectWords[effects]}
              </span>
              <span>{needsApproval ? 'asks first' : 'need not ask'}</span>
            </li>
          ))}
        </ul>
      )}
      {others.length > 0 && <p className="text-faint">Not offered: {others.map(({ name }) => name).join(', ')}.</p>}
    </Block>
  );
}

const effectWords = {
  none: 'changes nothing',
  'read-only': 'only reads',
  files: 'changes files',
  external: 'acts outside',
} as const;
