// Says when the server is gone, tries again, and goes on when it is back.

const HEARTBEAT_MS = 10_000; // so that an idle page notices, too
const RETRY_MS = 1_000;
let isLost = false;

/** Say it once, and try again until the server answers. */
function connectionLost() {
  if (isLost) return;
  isLost = true;
  const line = document.getElementById("connection");
  line.textContent = "The server cannot be reached. Trying again…";
  line.classList.add("gone");
  line.hidden = false;
  setTimeout(tryAgain, RETRY_MS);
}

async function tryAgain() {
  if (!(await isAlive())) {
    setTimeout(tryAgain, RETRY_MS);
    return;
  }
  isLost = false;
  const line = document.getElementById("connection");
  line.classList.remove("gone");
  line.textContent = "Connected again.";
  setTimeout(() => (line.hidden = !isLost), 3000);
  document.dispatchEvent(new Event("connected"));
}

async function isAlive() {
  try {
    return (await fetch("health/live", { cache: "no-store", redirect: "error" })).ok;
  } catch {
    return false;
  }
}

function watchConnection() {
  setInterval(async () => {
    if (!isLost && document.visibilityState === "visible" && !(await isAlive())) connectionLost();
  }, HEARTBEAT_MS);
  addEventListener("offline", connectionLost);
}

/** Tell people who listen instead of looking. */
function say(sentence) {
  const place = document.getElementById("said");
  place.textContent = "";
  setTimeout(() => (place.textContent = sentence), 50); // the same sentence twice is two sentences
}
