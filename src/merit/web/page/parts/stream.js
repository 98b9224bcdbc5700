// Server-sent events of a request, which EventSource cannot make: it only ever gets.

/** The events of a request, each `{name, data}`, until the server ends them. */
async function* eventsOf(path, options) {
  const reply = await send(`api/${path}`, { method: "POST", accept: "text/event-stream", ...options });
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop();
      for (const block of blocks) {
        const event = eventIn(block);
        if (event) yield event;
      }
    }
  } catch (error) {
    if (error.name === "AbortError") throw error;
    connectionLost();
    throw new Unreachable();
  } finally {
    reader.cancel().catch(() => {}); // it ended, or broke
  }
}

/** One event; null for the comments that keep a connection open. */
function eventIn(block) {
  let name = "message";
  let data = "";
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    else if (line.startsWith("data:")) data += line.slice(5);
  }
  return data ? { name, data: JSON.parse(data) } : null;
}

/**
 * Go through a question's events to its last one. `heard` gets each; returns the data of the last event,
 * or throws what the server said instead. Null where the question was cancelled.
 */
async function listenTo(path, options, heard) {
  for await (const { name, data } of eventsOf(path, options)) {
    if (name === "failed") throw new Refusal(data.error, 400);
    if (name === "cancelled") return null;
    heard(name, data);
    if (name === "answer" || name === "comparison") return data;
  }
  connectionLost(); // it ended in the middle
  throw new Unreachable();
}
