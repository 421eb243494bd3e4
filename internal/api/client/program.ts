import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import createClient from "openapi-fetch";
import type { paths } from "./api.js";

/** How long anything may take before it is given up, in ms. Nothing waits for it that goes well. */
export const deadline = 60_000;

const binary = fileURLToPath(new URL("sibyl", import.meta.url));

/** The program as it is shipped, serving on a free port over a temporary folder, with no model and nothing of this machine's settings. */
export class Program {
  #child: ChildProcess | undefined;
  #log = "";

  private constructor(
    private readonly home: string,
    private readonly env: NodeJS.ProcessEnv,
    public url = "",
  ) {}

  /** Starts it. folders are the files of each folder that questions may name. */
  static async start(folders: Record<string, Record<string, string>>): Promise<Program> {
    const home = await mkdtemp(join(tmpdir(), "sibyl-client-"));
    const config = join(home, "config.yaml");
    const program = new Program(home, { HOME: home, SIBYL_CONFIG: config });
    try {
      for (const [folder, files] of Object.entries(folders)) {
        await mkdir(join(home, folder), { recursive: true });
        for (const [name, text] of Object.entries(files)) {
          await writeFile(join(home, folder, name), text);
        }
      }
      const paths = Object.fromEntries(Object.keys(folders).map((folder) => [folder, join(home, folder)]));
      const settings = { model: "offline", data: join(home, "data"), server: { folders: paths, limits: { requests: 60_000 } } };
      await writeFile(config, JSON.stringify(settings)); // JSON is YAML
      await program.#serve();
    } catch (error) {
      await program.stop();
      throw error;
    }
    return program;
  }

  async #serve() {
    const child = spawn(binary, ["serve", "--listen", "127.0.0.1:0"], { env: this.env, stdio: ["ignore", "pipe", "pipe"] });
    this.#child = child;
    process.once("exit", () => child.kill("SIGKILL"));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (this.#log += text));
    const signal = AbortSignal.timeout(deadline);
    for await (const line of createInterface({ input: child.stdout, signal })) {
      const address = /^listening at (.*)$/.exec(line)?.[1];
      if (address !== undefined) {
        this.url = address;
        child.stdout.resume(); // or it would wait for a reader
        return;
      }
    }
    assert.fail(`sibyl serve did not say where it listens:\n${this.#log}`);
  }

  /** Runs a command, and gives what it prints. */
  async command(...args: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(binary, args, { env: this.env, timeout: deadline });
    return stdout.trim();
  }

  /** A client that sends these headers. No request of it takes longer than the deadline. */
  client(headers: Record<string, string> = {}) {
    return createClient<paths>({ baseUrl: this.url, headers, fetch: (request) => fetch(request, { signal: AbortSignal.timeout(deadline) }) });
  }

  /** A client with the token of a new user. */
  async user(name: string, ...flags: string[]) {
    return this.client({ Authorization: `Bearer ${await this.command("user", "add", name, ...flags)}` });
  }

  /** Ends it as a person would, and removes what it left. */
  async stop() {
    const child = this.#child;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const ended = once(child, "exit", { signal: AbortSignal.timeout(deadline) });
      child.kill("SIGTERM");
      await ended;
      assert.equal(child.exitCode, 0, `sibyl serve ended with ${child.signalCode ?? child.exitCode}:\n${this.#log}`);
    }
    await rm(this.home, { recursive: true, force: true });
  }
}
