import { live } from "./live.svelte";

/** What an inquiry that goes on has told since its last answer was weighed. */
export interface Asked {
  /** Of the question that was put last; 0 before the first. */
  number: number;
  question: string;
  strategy: string;
  /** undefined: it is still to be heard. */
  answer: string | undefined;
  /** The number of the last answer that was weighed. */
  weighed: number;
  contradictions: number;
  ended: boolean;
}

/** The inquiries that go on, by their runs. It hears from the beginning, so that a board that is opened later lacks nothing. */
class Asking {
  of = $state<Record<string, Asked>>({});

  constructor() {
    live.stream.hear({
      event: ({ run, assistant, type, data }) => {
        if (assistant !== "inquiry") return;
        const one = (this.of[run] ??= { number: 0, question: "", strategy: "", answer: undefined, weighed: 0, contradictions: 0, ended: false });
        switch (type) {
          case "question.put":
            return Object.assign(one, { number: Number(data.number), question: String(data.text), strategy: String(data.strategy ?? ""), answer: undefined });
          case "answer.heard":
            return Object.assign(one, { answer: String(data.text ?? "") });
          case "ledger.kept":
            return Object.assign(one, { weighed: Number(data.number), contradictions: Number(data.contradictions ?? 0) });
          case "inquiry.ended":
            return Object.assign(one, { ended: true });
        }
      },
      end: ({ run }) => {
        delete this.of[run];
      },
    });
  }
}

export const asking = new Asking();
