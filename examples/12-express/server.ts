// An Express server that runs plans in its own process. Kill it at any moment: what it had answered goes on when it starts again.
import express from 'express';
import { openSignalbox, SignalboxError } from 'signalbox/embed';
import type order from './order.tsx';

const { DATA = 'data', LEDGER = 'ledger.txt', PORT = '3000' } = process.env;
const signalbox = await openSignalbox({ dataDirectory: DATA });
const orders = signalbox.plan<typeof order>(new URL('order.tsx', import.meta.url));

const app = express();
app.use(express.json());

// The key makes a repeated request safe: the same order is one run.
app.post('/orders', async (request, response) => {
  const { id, item, count } = request.body;
  const run = await orders.start({ id, item, count, ledger: LEDGER }, { key: `order-${id}`, tags: ['order'] });
  response.status(202).json({ run: run.id });
});

app.get('/orders', async (_, response) => {
  response.json(await signalbox.runs({ tag: 'order', limit: 500 }));
});

app.get('/orders/:run', async (request, response) => {
  const run = signalbox.run<typeof order>(request.params.run);
  const [facts, state] = await Promise.all([run.facts(), run.state()]);
  response.json({ status: facts.status, parcel: state.shipped });
});

app.post('/orders/:run/agree', async (request, response) => {
  await signalbox.run(request.params.run).answer('agree', 'approve');
  response.json({ agreed: true });
});

app.use((error: unknown, _: express.Request, response: express.Response, next: express.NextFunction) => {
  if (!(error instanceof SignalboxError)) return next(error);
  response.status(error.code === 'run/unknown' ? 404 : 400).json({ error: error.message, next: error.suggestion });
});

const server = app.listen(Number(PORT), '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : PORT;
  console.log(
    JSON.stringify({ url: `http://127.0.0.1:${port}`, console: signalbox.url, resumed: signalbox.resumed.length }),
  );
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    server.close();
    await signalbox.close();
    process.exit(0);
  });
}
