/** An open or opening connection. After `close` no event is delivered. */
export interface Connection {
  send(text: string): void;
  close(): void;
}

interface ConnectionEvents {
  opened(): void;
  received(text: string): void;
  /** Called once, whether the connection was open or never opened. */
  closed(code: number): void;
}

export type Connect = (url: string, events: ConnectionEvents) => Connection;

/** Uses the `WebSocket` that browsers and Node both have. */
export const connectWebSocket: Connect = (url, events) => {
  const socket = new WebSocket(url);
  let isOver = false;
  const closed = (code: number): void => {
    if (isOver) return;
    isOver = true;
    events.closed(code);
  };
  socket.onopen = () => {
    if (!isOver) events.opened();
  };
  socket.onmessage = ({ data }) => {
    if (!isOver && typeof data === 'string') events.received(data);
  };
  socket.onerror = () => closed(1006);
  socket.onclose = ({ code }) => closed(code);
  return {
    send: text => socket.send(text),
    close() {
      isOver = true;
      socket.close();
    },
  };
};
