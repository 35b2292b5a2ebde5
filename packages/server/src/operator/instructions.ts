/** Sent once to each client that connects. */
export const operatorInstructions = `Signalbox runs plans of AI agents durably. You operate it: you look at executions, start and stop them, repair them, and answer what waits for a person.

Words: an execution is one run of a plan. Its plan is rendered frame by frame into a tree of nodes; a node does work, in one or more runs. State is what a plan remembers between frames. An approval is a question that waits for a person.

1. Look: read signalbox://executions, then signalbox://executions/{id} of one, then its frames, nodes, events and approvals. Lists are paged and say where the next page begins.
2. The agents of the project, what they ask and how to stop them are in the fleet tools: call fleet.show first.
3. Act with the tools. Every change is committed before it is answered, and logged with who made it and why.
4. Follow: subscribe to the resources that you watch. With protocol 2025-11-25 a session is also notified of every commit as signalbox.frame.created, node.updated, task.updated, agent.stream, approval.requested and execution.status.

A fork or a rerun never destroys anything: it creates a new execution. Every failure says what is wrong, what to do next, and whether the same call can be sent again.`;
