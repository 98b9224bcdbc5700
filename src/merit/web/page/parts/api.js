// Requests to this server, and nowhere else.

/** What the server said instead of an answer: one sentence, and its status. */
class Refusal extends Error {
  constructor(sentence, status) {
    super(sentence);
    this.status = status;
  }
}

/** The server cannot be reached, or the connection broke. */
class Unreachable extends Error {
  constructor() {
    super("the server cannot be reached");
  }
}

/** Addresses are relative, so that the page also works below a path of a reverse proxy. */
async function send(path, { method = "GET", body, file, accept = "application/json", signal } = {}) {
  const headers = { Accept: accept };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (file !== undefined) headers["Content-Type"] = "application/octet-stream";
  let reply;
  try {
    reply = await fetch(path, {
      method,
      headers,
      body: body === undefined ? file : JSON.stringify(body),
      cache: "no-store",
      credentials: "same-origin",
      redirect: "error",
      signal,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    connectionLost();
    throw new Unreachable();
  }
  if (!reply.ok) throw await refusalOf(reply);
  return reply;
}

async function refusalOf(reply) {
  let sentence = `the server answered with status ${reply.status}`;
  try {
    sentence = (await reply.json()).error ?? sentence;
  } catch {} // a proxy's own page: its status says enough
  if (reply.status === 401 && session.signed_in) signedOut();
  return new Refusal(String(sentence), reply.status);
}

/** A request to the API, answered with parsed JSON. */
async function api(path, options) {
  const reply = await send(`api/${path}`, options);
  try {
    return await reply.json();
  } catch (error) {
    if (error instanceof SyntaxError) throw new Refusal("the server's answer cannot be read", 502);
    connectionLost();
    throw new Unreachable();
  }
}

/** A path of the API from its parts; names and ids are never taken for slashes. */
const pathOf = (...parts) => parts.map(encodeURIComponent).join("/");

/** A query of what is filled in. */
function queryOf(wanted) {
  const filled = Object.entries(wanted).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return filled.length ? `?${new URLSearchParams(filled)}` : "";
}

let session = { signed_in: false, may: [] };
const may = (right) => session.may.includes(right);

async function readSession() {
  session = { may: [], ...(await api("session")) };
  return session;
}

let names = null; // the schema, read once: editors complete its names

/** Tables with their columns, as the schema view and the editor need them. */
function schemaNames() {
  names ??= api("schema").catch((error) => {
    names = null;
    throw error;
  });
  return names;
}

const schemaTables = async () => (await schemaNames()).tables;
