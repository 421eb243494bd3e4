"use strict";

// The one-time token stands in the fragment of the address. It is taken out of the address before anything else, so that it is not left
// in the history.
const once = location.hash.slice(1);
if (once) history.replaceState(null, "", location.pathname);

const who = document.getElementById("who");
const out = document.getElementById("out");

async function ask(method, path, body) {
  const answer = await fetch(path, {
    method,
    headers: body ? { "Content-Type": "application/json" } : {},
    body: body && JSON.stringify(body),
  });
  const text = await answer.text();
  return { status: answer.status, body: text ? JSON.parse(text) : {} };
}

function show({ status, body }) {
  out.hidden = status !== 200;
  if (status === 200) who.textContent = `Signed in as ${body.user}, who may ${body.scope}, until ${new Date(body.expires_at).toLocaleString()}.`;
  else if (body.kind === "no_token") who.textContent = "Nobody is signed in here. Whoever runs this server can give you an address to sign in with, once.";
  else who.textContent = [body.detail, body.hint].filter(Boolean).join(" ");
}

async function begin() {
  if (once) {
    const signedIn = await ask("POST", "/api/sign-in", { token: once });
    if (signedIn.status !== 200) return show(signedIn);
  }
  show(await ask("GET", "/api/me"));
}

out.addEventListener("click", async () => {
  await ask("POST", "/api/sign-out");
  show(await ask("GET", "/api/me"));
});

begin().catch(() => { who.textContent = "The server does not answer."; });
