/** Said once to whoever connects. */
export const operatorInstructions = `Signalbox runs plans of AI agents durably. You operate it: you look at executions, start and stop them, repair them, and answer what waits for a person.

Words: an execution is one run of a plan. Its plan is rendered frame by frame into a tree of nodes; a node does work, in one or more runs of its own. State is what a plan remembers between frames. An approval is something that waits for a person.

1. Look: read signalbox://executions, then signalbox://executions/{id} of one, then its frames, nodes, events and approvals. Lists come in pages and say where the next one begins.
2. Act with the tools. Every change is committed before it is answered, and kept with who made it and why.
3. Follow: subscribe to the resources that you watch. With protocol 2025-11-25 a session also hears of every commit as signalbox.frame.created, node.updated, task.updated, agent.stream, approval.requested and execution.status.

Nothing is ever destroyed by a fork or a rerun: they make new executions. Every failure says what is wrong, what to do next, and whether the same call can be sent again.`;
