import "./page.css";
import { mount } from "svelte";
import App from "./App.svelte";
import { beginToSpeak } from "./lib/words.svelte";

beginToSpeak().then(
  () => mount(App, { target: document.body }),
  () => {
    // There are no words to say it with.
    document.body.textContent = "Sibyl: the server does not answer. · Der Server antwortet nicht. · O servidor não responde.";
    addEventListener("online", () => location.reload());
  },
);
