import { live } from "./live.svelte";

/** A question that was put. */
export interface Put {
  number: number;
  question: string;
  /** undefined: it is still to be heard. */
  answer: string | undefined;
}

/** What an inquiry that goes on has told. */
export interface Asked {
  put: Put[];
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
        const one = (this.of[run] ??= { put: [], weighed: 0, contradictions: 0, ended: false });
        switch (type) {
          case "question.put":
            return void (one.put = [...one.put.filter((p) => p.number !== Number(data.number)), { number: Number(data.number), question: String(data.text), answer: undefined }]);
          case "answer.heard":
            return void one.put.filter((p) => p.number === Number(data.number)).forEach((p) => (p.answer = String(data.text ?? "")));
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
