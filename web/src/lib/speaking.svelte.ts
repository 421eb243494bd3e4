import { Attempt } from "./attempt.svelte";
import type { Form } from "./api";
import { sayTo, type Message } from "./talk.svelte";

type Made = Pick<Form<"Begun">, "run" | "session">;

/** What is said in one conversation, also after another one is shown. */
export class Speaking {
  readonly attempt = new Attempt();
  /** The conversation that has begun here; "" until then, and where one was there before. */
  begun = $state("");
  #session: string;
  #sent = { key: "", follows: "" }; // what is sent again says the same, though more is shown by then

  /** `session` is the conversation, empty for a new one. `post` is the server. */
  constructor(
    session: string,
    private readonly post: (message: Message, key: string) => Promise<Made> = sayTo,
  ) {
    this.#session = session;
  }

  /** Says something that goes on from a run, and then does what follows from it. Whether that worked. */
  say(draft: Omit<Message, "session">, follows: string, then: (made: Made, begins: boolean) => Promise<unknown>): Promise<boolean> {
    const message = { ...draft, session: this.#session };
    return this.attempt.once(message, async (key) => {
      if (this.#sent.key !== key) this.#sent = { key, follows };
      const made = await this.post({ ...message, follows: this.#sent.follows }, key);
      if (!message.session) this.#session = this.begun = made.session;
      await then(made, !message.session);
    });
  }
}
