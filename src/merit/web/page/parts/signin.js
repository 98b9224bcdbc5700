// Signing in with a token, where the server asks for one.

function signInView() {
  const token = h("input", {
    type: "password",
    id: "token",
    autocomplete: "current-password",
    required: true,
    spellcheck: "false",
  });
  const button = h("button", { type: "submit", class: "primary" }, "Sign in");
  const form = h(
    "form",
    { class: "sign-in" },
    field(
      "Token",
      token,
      [
        "Made with ",
        h("code", {}, "merit token add"),
        " on the server. The browser keeps it as a cookie that no script can read.",
      ],
    ),
    h("div", { class: "actions" }, button),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    busy(
      button,
      async () => {
        await api("session", { method: "POST", body: { token: token.value.trim() } });
        await openSession();
        await show({ anew: true });
      },
      form,
    );
  });
  return h("div", { class: "page narrow-page" }, h("h1", { tabindex: "-1" }, "Sign in"), form);
}

/** The token was revoked, or the session ended: the next view asks for one. */
function signedOut() {
  session = { signed_in: false, needs_token: true, may: [] };
  showSession();
  show({ anew: true });
}

async function signOut() {
  await api("session", { method: "DELETE" });
  await openSession();
  await show({ anew: true });
}

/** What the header says about the session. */
function showSession() {
  const about = document.getElementById("about");
  const words =
    session.signed_in && session.database
      ? [session.database, session.model, session.needs_token ? session.author : ""]
      : [];
  about.textContent = words.filter(Boolean).join(" · ");
  about.title = about.textContent;
  document.getElementById("sign-out").hidden = !(session.signed_in && session.needs_token);
  document.querySelector('nav [data-view="runs"]').hidden = !session.runs;
  document.querySelector("header nav").hidden = !session.signed_in;
}

async function openSession() {
  names = null;
  await readSession();
  showSession();
}
