import { address, send, type Form } from "./api";
import { asRefusal, why } from "./loaded.svelte";
import { say } from "./words.svelte";

/** What the server reads of a file, in bytes, and how long it may take to be sent, in ms. */
const mostFile = 64 << 20;
const upload = 5 * 60_000;

/** Documents that are handed over: each is read by the server at once, so that one that can't be read is told while it can be replaced. */
export class Handed {
  /** `most` is what all texts may have, in bytes, and `mostPictures` how many pictures there may be. */
  constructor(
    private readonly most = Infinity,
    private readonly mostPictures = 0,
  ) {}

  files = $state<Form<"DocumentText">[]>([]);
  /** The pictures among them, by their names. */
  pictures = $state.raw<Readonly<Record<string, File>>>({});
  /** The file that is being read; "" if none is. */
  reading = $state("");
  problems = $state<string[]>([]);

  /** All texts, as an inquiry takes them. */
  get material(): string {
    return this.files.map((f) => f.material).join("");
  }

  #waiting: File[] = [];
  #all: Promise<void> | undefined; // is kept when each has been read

  /** Has files read, one after the other and after those that are being read. One of the same name takes the place of the one that is there. */
  async add(list: Iterable<File> | null | undefined): Promise<void> {
    this.#waiting.push(...(list ?? []));
    if (!this.reading) {
      this.problems = [];
      this.#all = this.#readAll();
    }
    return this.#all;
  }

  async #readAll() {
    for (let file; (file = this.#waiting.shift()); ) {
      this.reading = file.name;
      try {
        if (file.size > mostFile) this.problems.push(say("ask.attach.large", { name: file.name }));
        else await this.#read(file);
      } catch (e) {
        this.problems.push(`${file.name}: ${why(asRefusal(e))}`);
      }
    }
    this.reading = "";
  }

  async #read(file: File) {
    const body = file.slice(0, file.size, "application/octet-stream"); // its content says what it is
    const read = await send<Form<"DocumentText">>("POST", address("/api/documents", { name: file.name }), { body, patience: upload });
    if (read.picture && !this.mostPictures) this.problems.push(`${file.name}: ${say("problem.document_unsupported")}`);
    else if (this.#take(read) && read.picture) this.pictures = { ...this.pictures, [read.name]: file };
  }

  /** Whether there is room for a file. */
  #take(read: Form<"DocumentText">): boolean {
    const files = [...this.files.filter((f) => f.name !== read.name), read];
    const texts = files.filter((f) => !f.picture);
    const fits = new Blob(texts.map((f) => f.material)).size <= this.most && files.length - texts.length <= this.mostPictures;
    if (fits) this.files = files;
    else this.problems.push(say("ask.attach.much", { name: read.name }));
    return fits;
  }

  /** Files that came without names of their own, as pasted pictures do, beside those that are there: none takes the place of another. */
  apart(list: Iterable<File>): File[] {
    const names = new Set([...this.files, ...this.#waiting].map((f) => f.name)).add(this.reading);
    return [...list].map((file) => {
      const [, stem = "", end = ""] = /^(.*?)(\.[^.]*)?$/s.exec(file.name) ?? [];
      let name = file.name;
      for (let n = 2; names.has(name); n++) name = `${stem}-${n}${end}`;
      names.add(name);
      return name === file.name ? file : new File([file], name, { type: file.type });
    });
  }

  /** Puts files back that were read before, beside those that are there, as far as there is room. */
  putBack(files: readonly Form<"DocumentText">[]) {
    for (const file of files) if (!this.files.some((f) => f.name === file.name)) this.#take(file);
  }

  remove(name: string) {
    this.files = this.files.filter((f) => f.name !== name);
  }
}
