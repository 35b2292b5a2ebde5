// A Slack bot for decisions: what waits for a person becomes a message with buttons, and a click is the answer.
// It talks to a server (`signalbox serve`) with a token of its own: signalbox users add slack --role approver
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { connect, type Question, SignalboxError } from 'signalbox/client';

const { SIGNALBOX_URL = 'http://127.0.0.1:4280', SIGNALBOX_TOKEN = '', PORT = '3001' } = process.env;
const {
  SLACK_API = 'https://slack.com/api',
  SLACK_TOKEN = '',
  SLACK_SIGNING_SECRET = '',
  SLACK_CHANNEL = '',
} = process.env;
const signalbox = connect({ url: SIGNALBOX_URL, token: SIGNALBOX_TOKEN });

async function slack(method: string, body: object): Promise<{ ok: boolean; error?: string; ts?: string }> {
  const answered = await fetch(`${SLACK_API}/${method}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${SLACK_TOKEN}`, 'Content-Type': 'application/json; charset=utf-8' },
    body: JSON.stringify({ channel: SLACK_CHANNEL, ...body }),
  });
  return (await answered.json()) as { ok: boolean };
}

/** Slack shows `&`, `<` and `>` as they are only if they are escaped. */
const plain = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

function message({ id, node, run, prompt, options }: Question) {
  const buttons =
    options.length > 0
      ? options.map(option => ({ text: option.label ?? option.id, value: JSON.stringify({ id, option: option.id }) }))
      : [
          { text: 'Approve', value: JSON.stringify({ id, approve: true }) },
          { text: 'Deny', value: JSON.stringify({ id, approve: false }) },
        ];
  return {
    text: plain(prompt),
    blocks: [
      { type: 'section', text: { type: 'mrkdwn', text: `*${plain(prompt)}*\n${plain(node)} · run ${run.slice(-8)}` } },
      {
        type: 'actions',
        elements: buttons.map(({ text, value }, index) => ({
          type: 'button',
          action_id: `answer-${index}`,
          text: { type: 'plain_text', text },
          value,
        })),
      },
    ],
  };
}

signalbox.onQuestion(async question => {
  const posted = await slack('chat.postMessage', message(question));
  if (!posted.ok) console.error(`Slack refused the message: ${posted.error}`);
});

/** Whether Slack sent it, within the last five minutes. */
function isFromSlack(time: string, signature: string, body: string): boolean {
  if (Math.abs(Date.now() / 1000 - Number(time)) > 300) return false;
  const expected = Buffer.from(
    `v0=${createHmac('sha256', SLACK_SIGNING_SECRET).update(`v0:${time}:${body}`).digest('hex')}`,
  );
  const given = Buffer.from(signature);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

async function click(body: string): Promise<void> {
  const { actions, user, message: shown } = JSON.parse(new URLSearchParams(body).get('payload') ?? '{}');
  const { id, option, approve } = JSON.parse(actions[0].value);
  const reason = `${user.username} in Slack`;
  const said = option ?? (approve ? 'approved' : 'denied');
  let text = `${plain(shown.text)}\n_${plain(said)} by ${plain(user.username)}_`;
  try {
    await signalbox.answer(id, option === undefined ? { approve, reason } : { option, reason });
  } catch (error) {
    text = `${plain(shown.text)}\n_${plain(error instanceof SignalboxError || error instanceof Error ? error.message : String(error))}_`;
  }
  await slack('chat.update', { ts: shown.ts, text, blocks: [] });
}

const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) {
    body += chunk;
    if (body.length > 100_000) return void response.writeHead(413).end();
  }
  const { 'x-slack-request-timestamp': time = '', 'x-slack-signature': signature = '' } = request.headers;
  if (!isFromSlack(String(time), String(signature), body)) return void response.writeHead(401).end();
  // Slack waits three seconds for this.
  response.writeHead(200).end();
  await click(body).catch(error => console.error(error));
});
server.listen(Number(PORT), '127.0.0.1', () => {
  const address = server.address();
  console.log(JSON.stringify({ url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : PORT}` }));
});

process.once('SIGTERM', () => {
  signalbox.close();
  server.close();
});
