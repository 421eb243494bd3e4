import { live } from "./live.svelte";
import { go, placeOf } from "./route.svelte";
import { told } from "./status";
import type { Form } from "./api";

/** How long a run has to go on, in ms, before somebody may wish to be told of its end. */
export const long = 20_000;

/** What has ended or waits while nobody looked at the page: its title has a mark then, and the browser notifies where it may. */
class Bell {
  /** Something is unseen. */
  rings = $state(false);
  /** Whether the browser notifies: "default" until the person was asked. */
  may = $state<NotificationPermission>(globalThis.Notification?.permission ?? "denied");

  constructor() {
    const { document } = globalThis;
    document?.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.rings = false;
    });
    live.stream.hear({ end: ({ row }) => this.#ring(row) });
  }

  async ask() {
    this.may = await Notification.requestPermission();
  }

  #ring(row: Form<"Run">) {
    if (!document.hidden || row.companion || row.assistant.includes(".")) return;
    this.rings = true;
    if (this.may !== "granted") return;
    try {
      const note = new Notification(told(row), { body: row.title, tag: row.id });
      note.onclick = () => {
        focus();
        go([...placeOf(row.assistant, row.session_id), ...(row.assistant === "oracle" ? [row.id] : [])]);
        note.close();
      };
    } catch {
      // Browsers of phones notify by the worker alone: the title has its mark.
    }
  }
}

export const bell = new Bell();
