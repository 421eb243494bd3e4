import "./style/base.css";
import "./style/form.css";
import "./style/pieces.css";
import { mount } from "svelte";
import App from "./App.svelte";
import "./lib/asking.svelte"; // it hears from the beginning, before its view is fetched
import { standAboveKeyboard } from "./lib/keyboard";
import { beginToSpeak } from "./lib/words.svelte";

if (matchMedia("(pointer: coarse)").matches) standAboveKeyboard();
beginToSpeak().then(
  () => {
    mount(App, { target: document.body });
    setTimeout(() => void import("./lib/worker").then(({ showWhileAway }) => showWhileAway(), () => undefined), 3000); // after what is wanted first
  },
  () => {
    // There are no words to say it with.
    document.body.textContent = "Sibyl: the server does not answer. · Der Server antwortet nicht. · O servidor não responde.";
    addEventListener("online", () => location.reload());
  },
);
