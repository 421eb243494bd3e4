import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, suite, test } from "node:test";
import { type Answer, collected, given, refused, told } from "./answers.js";
import type { ChatResponse, Run, RunWithResult, Session } from "./api.js";
import { deadline, Program } from "./program.js";

const bridge = "The Oder bridge was closed on 3 May 2021. It was closed because of corrosion of the main cables.\n\nThe engineer Anna Berg ordered the closure.\n";
const folders = { papers: { "bridge.txt": bridge }, notes: { "tides.md": "# Tides\n\nHigh water at the north pier comes forty minutes after the harbour gauge.\n" } };
const question = "When does high water come at the north pier?";

let program: Program;
let ada: ReturnType<Program["client"]>;
let eve: typeof ada;

before(async () => {
  program = await Program.start(folders);
  [ada, eve] = [await program.user("ada"), await program.user("eve")];
}, { timeout: 4 * deadline });
after(() => program?.stop(), { timeout: 2 * deadline });

/** A run that was asked the question and has ended. */
async function answered(session?: string): Promise<RunWithResult> {
  const body = { assistant: "oracle", words: question, options: { code: "notes" }, ...(session !== undefined && { session }) };
  const { run } = await given(ada.POST("/api/runs", { body }));
  await ended(run);
  return await given(ada.GET("/api/runs/{run}", { params: { path: { run } } }));
}

async function ended(run: string): Promise<Run> {
  for await (const e of told(ada.GET("/api/runs/{run}/events", { params: { path: { run } }, parseAs: "stream" }))) {
    if (e.event === "end") {
      return e.data.row;
    }
  }
  assert.fail(`the stream of run ${run} has no end`);
}

suite("a client with types from the description", { timeout: 5 * deadline }, () => {
  test("has the description that the program serves", async () => {
    const served = await fetch(`${program.url}/openapi.json`, { signal: AbortSignal.timeout(deadline) });
    assert.equal(await served.text(), await readFile(new URL("../../../../docs/openapi.json", import.meta.url), "utf8"));
  });

  test("is told by its token who it is and what it may do", async () => {
    const me = await given(ada.GET("/api/me"));
    const scope: "read" | "write" | "operate" = me.scope;
    assert.deepEqual([me.user, scope, me.folders], ["ada", "write", ["notes", "papers"]]);
    assert.ok(Date.parse(me.expires_at) > Date.now());
  });

  test("signs a browser in once, and out", async () => {
    const token = await program.command("user", "sign-in", "ada");
    const nobody = program.client();
    const { data, response } = await nobody.POST("/api/sign-in", { body: { token } });
    assert.equal(data?.user, "ada");
    await refused(nobody.POST("/api/sign-in", { body: { token } }), 401, "wrong_token");
    const cookie = response.headers.get("Set-Cookie")?.split(";")[0] ?? "";
    const browser = program.client({ Cookie: cookie });
    assert.equal((await given(browser.GET("/api/me"))).user, "ada");
    await given(browser.POST("/api/sign-out"));
    await refused(browser.GET("/api/me"), 401, "wrong_token");
  });

  test("finds the Oracle, with the form of its options", async () => {
    const { assistants } = await given(ada.GET("/api/assistants"));
    const oracle = assistants.find((a) => a.name === "oracle");
    assert.equal(oracle?.companion, false);
    assert.equal(oracle?.options?.["type"], "object");
  });

  test("has a question answered from a folder that it names", async () => {
    const run = await answered();
    assert.deepEqual([run.status, run.state, run.assistant, run.title], ["done", "ended", "oracle", question]);
    assert.match(run.result?.answer ?? "", /`tides\.md:\d/);
    assert.equal(run.result?.outcome["query_type"] !== undefined, true);
    assert.deepEqual(run.result?.failure, undefined);
  });

  test("keeps a to-do list by conversation, each of a user's own", async () => {
    const say = (message: string, conversation_id?: string) =>
      ada.POST("/api/chat", { body: { message, model: "offline:rules", ...(conversation_id !== undefined && { conversation_id }) } }) as Promise<Answer<ChatResponse>>;
    const first = await given(say("remind me to Buy groceries"));
    assert.deepEqual([first.status, first.tool_calls.map((c) => [c.tool_name, c.parameters])], ["success", [["add_task", { title: "Buy groceries" }]]]);
    const talk = first.conversation_id;
    assert.match((await given(say("show my tasks", talk))).response, /1\. Buy groceries/);
    const asked = await given(say("delete task 1", talk));
    assert.deepEqual([asked.status, asked.clarification?.options], ["confirmation_required", []]);
    await refused(eve.POST("/api/chat", { body: { message: "yes", conversation_id: talk } }), 404, "not_found");
    assert.equal((await given(say("yes", talk))).status, "success");
    assert.match((await given(say("show my tasks", talk))).response, /no tasks/);
    await refused(say(" ", talk), 400, "invalid_request");
    await refused(say("hello", "nothing"), 404, "not_found");
    await refused(say("hello", (await answered()).session_id), 400, "invalid_request");
  });

  test("gives a message that is sent again under its key the same answer, once done", async () => {
    const send = () => ada.POST("/api/chat", { body: { message: "add water the plants", model: "offline:rules" }, headers: { "Idempotency-Key": "plants" } });
    const [first, again] = [await given(send()), await given(send())];
    assert.deepEqual(again, first);
  });

  test("goes on with a session", async () => {
    const first = await answered();
    const second = await answered(first.session_id);
    const session = await given(ada.GET("/api/sessions/{session}", { params: { path: { session: first.session_id } } }));
    assert.deepEqual([session.runs, session.exchanges.map((x) => x["run_id"])], [2, [first.id, second.id]]);
  });

  test("reads, part by part, a list that goes on", async () => {
    const session = (await answered((await answered()).session_id)).session_id;
    const whole = (await given(ada.GET("/api/runs", { params: { query: { session } } }))).runs;
    const parts: Run[] = [];
    let after: string | undefined;
    do {
      const part = await given(ada.GET("/api/runs", { params: { query: { session, limit: 1, ...(after !== undefined && { after }) } } }));
      parts.push(...part.runs);
      after = part.next;
    } while (after !== undefined);
    assert.equal(whole.length, 2);
    assert.deepEqual(parts, whole);
  });

  test("reads why a run did what it did, and all that was done", async () => {
    const run = await answered();
    const path = { session: run.session_id };
    const explanation = await given(ada.GET("/api/runs/{run}/explanation", { params: { path: { run: run.id } } }));
    const last = explanation.steps.at(-1);
    assert.equal(last?.status, "SUCCESS");
    const classified = explanation.steps.flatMap((s) => s.events).find((e) => e.type === "class.chosen");
    assert.equal(classified?.data?.["query_type"], run.result?.outcome["query_type"]);
    const audit = await given(ada.GET("/api/sessions/{session}/audit", { params: { path } }));
    const audited = audit.runs[0];
    assert.deepEqual([audit.session.id, audited?.run_id, audited?.status, audited?.end?.status], [run.session_id, run.id, "done", "done"]);
    const asked = explanation.steps.flatMap((s) => s.started);
    assert.deepEqual(audited?.effects.map((e) => [e.op, e.leaf, e.state]), asked.map((e) => [e.op, e.leaf, "ok"]));
    assert.ok(audited?.decisions.some((d) => d.type === "class.chosen" && d.status === "SUCCESS"));
  });

  test("takes a session along as a file, in each form", async () => {
    const run = await answered();
    const path = { session: run.session_id };
    const file = async (format: "md" | "json" | "jsonl") => {
      const answer = await ada.GET("/api/sessions/{session}/export", { params: { path, query: { format } }, parseAs: "text" });
      assert.equal(answer.response.headers.get("Content-Disposition"), `attachment; filename="session-${run.session_id}.${format}"`);
      return answer.data ?? "";
    };
    const { setup, ...session } = await given(ada.GET("/api/sessions/{session}", { params: { path } }));
    assert.deepEqual(setup, { code: "notes" }); // by the name that the user gave, and in no file
    assert.ok((await file("md")).startsWith(`# ${question}\n`));
    assert.deepEqual(JSON.parse(await file("json")), session);
    assert.deepEqual((await file("jsonl")).trim().split("\n").map((line) => JSON.parse(line)), session.exchanges);
  });

  test("renames a session, and deletes it", async () => {
    const params = { path: { session: (await answered()).session_id } };
    const renamed: Session = await given(ada.PATCH("/api/sessions/{session}", { params, body: { title: "Tides" } }));
    assert.equal(renamed.title, "Tides");
    const listed = async () => (await given(ada.GET("/api/sessions"))).sessions.find((s) => s.id === params.path.session)?.title;
    assert.equal(await listed(), "Tides");
    assert.equal((await ada.DELETE("/api/sessions/{session}", { params })).response.status, 204);
    assert.equal(await listed(), undefined);
    await refused(ada.GET("/api/sessions/{session}", { params }), 404, "not_found");
  });

  test("can neither stop nor resume what has ended", async () => {
    const params = { path: { run: (await answered()).id } };
    await refused(ada.POST("/api/runs/{run}/cancel", { params }), 409, "ended");
    await refused(ada.POST("/api/runs/{run}/resume", { params }), 409, "ended");
  });
});

suite("a stream", { timeout: 5 * deadline }, () => {
  test("goes on after the event that was seen last, and ends with the run", async () => {
    const { id: run, records } = await answered();
    const from = async (id?: string) => {
      const params = { path: { run }, ...(id !== undefined && { header: { "Last-Event-ID": id } }) };
      const all = await collected(told(ada.GET("/api/runs/{run}/events", { params, parseAs: "stream" })));
      return all.filter((e) => e.event !== "sync"); // the first of each stream
    };
    const whole = await from();
    assert.equal(whole.filter((e) => e.event === "record").length, records);
    const seen = whole.findIndex((e) => e.event === "step");
    assert.deepEqual(await from(whole[seen]?.id), whole.slice(seen + 1));
    const end = whole.at(-1);
    assert.deepEqual([end?.event, end?.event === "end" && end.data.row.status], ["end", "done"]);
    const params = { path: { run }, header: { "Last-Event-ID": end?.id ?? "" } };
    assert.equal((await ada.GET("/api/runs/{run}/events", { params })).response.status, 204);
  });

  test("tells of all runs, without their being named", async () => {
    const stream = told(ada.GET("/api/events", { parseAs: "stream" }));
    assert.equal((await stream.next()).value?.event, "sync");
    const run = await answered();
    let begun = false;
    for await (const e of stream) {
      begun ||= e.event === "begin" && e.data.run === run.id;
      if (e.event === "end" && e.data.run === run.id) {
        assert.deepEqual(e.data.result, run.result);
        break;
      }
    }
    assert.ok(begun, "the stream did not tell that the run began");
  });

  test("gives the answer to a question last", async () => {
    const all = await collected(told(ada.POST("/api/ask", { body: { question, options: { code: "notes" } }, parseAs: "stream" })));
    const last = all.at(-1);
    assert.equal(last?.event, "answer");
    assert.match(last?.event === "answer" ? (last.data.result?.answer ?? "") : "", /`tides\.md:\d/);
  });

  test("is not forced on who wants the answer whole", async () => {
    const whole = await given(ada.POST("/api/ask", { body: { question, options: { code: "notes" } }, headers: { Accept: "application/json" } }));
    assert.ok("result" in whole, "the run waits");
    assert.match(whole.result?.answer ?? "", /`tides\.md:\d/);
  });
});

suite("the Council", { timeout: 5 * deadline }, () => {
  const words = "The offer for the new office looks good, but I don't trust the numbers. Should we move in May?";

  /** A tenth of a second of sound: WAV, 16 bits, 16 kHz, one channel. */
  function tone() {
    const samples = 1600;
    const file = new DataView(new ArrayBuffer(44 + 2 * samples));
    const text = (at: number, s: string) => [...s].forEach((c, i) => file.setUint8(at + i, c.charCodeAt(0)));
    text(0, "RIFF");
    file.setUint32(4, 36 + 2 * samples, true);
    text(8, "WAVEfmt ");
    file.setUint32(16, 16, true);
    file.setUint16(20, 1, true);
    file.setUint16(22, 1, true);
    file.setUint32(24, 16000, true);
    file.setUint32(28, 32000, true);
    file.setUint16(32, 2, true);
    file.setUint16(34, 16, true);
    text(36, "data");
    file.setUint32(40, 2 * samples, true);
    for (let i = 0; i < samples; i++) file.setInt16(44 + 2 * i, 8000 * Math.sin(i / 5), true);
    return new Uint8Array(file.buffer);
  }

  /** A session of ada's in which something was said. */
  async function thinking() {
    const { session_id: session } = await given(ada.POST("/api/council/sessions", { body: { language: "en" } }));
    const path = { session };
    await given(ada.POST("/api/council/sessions/{session}/entries", { params: { path }, body: { text: words } }));
    return path;
  }

  test("takes in words, recordings and the files of forms, and knows them again", async () => {
    const path = await thinking();
    const recording = tone();
    const upload = (name: string) =>
      ada.POST("/api/council/sessions/{session}/entries", {
        params: { path, query: { name } },
        body: "",
        bodySerializer: () => new Blob([recording]),
        headers: { "Content-Type": "audio/wav" },
      });
    const added = await given(upload("memo.wav"));
    assert.deepEqual([added.entry.sequence, added.entry.transcription_status, added.entry.original_filename, added.transcription], [2, "PENDING", "memo.wav", undefined]);
    assert.match(added.not_transcribed ?? "", /^Nothing is set up/);
    const again = await upload("copy.wav");
    assert.deepEqual([again.response.status, again.data?.same_as], [200, 2]);
    const note = new FormData();
    note.set("file", new Blob(["What I thought on the way."]), "note.txt");
    const noted = await given(ada.POST("/api/council/sessions/{session}/entries", { params: { path }, body: { file: "" }, bodySerializer: () => note }));
    assert.deepEqual([noted.entry.sequence, noted.entry.original_filename], [3, "note.txt"]);
    const said = await given(ada.GET("/api/council/sessions/{session}/entries/{seq}/transcript", { params: { path: { ...path, seq: 3 } } }));
    assert.equal(said.text, "What I thought on the way.");
    const audio = { params: { path: { ...path, seq: 2 } }, parseAs: "arrayBuffer" as const };
    const whole = await ada.GET("/api/council/sessions/{session}/entries/{seq}/audio", audio);
    assert.deepEqual([whole.response.headers.get("Content-Type"), new Uint8Array(whole.data ?? new ArrayBuffer())], ["audio/wave", recording]);
    const part = await ada.GET("/api/council/sessions/{session}/entries/{seq}/audio", { ...audio, headers: { Range: "bytes=4-5" } });
    assert.deepEqual([part.response.status, new Uint8Array(part.data ?? new ArrayBuffer())], [206, recording.slice(4, 6)]);
    await refused(ada.POST("/api/council/sessions/{session}/transcription", { params: { path }, body: {} }), 409, "no_transcriber");
    await refused(
      ada.POST("/api/council/sessions/{session}/entries", { params: { path }, body: "", bodySerializer: () => "<p>", headers: { "Content-Type": "text/html" } }),
      415,
      "not_audio",
    );
  });

  test("shows the prompt of an oracle, and has none answer without a model", async () => {
    const path = await thinking();
    const body = { oracles: ["skeptic", "optimist"] };
    const { prompts } = await given(ada.POST("/api/council/sessions/{session}/preview", { params: { path }, body }));
    assert.ok(prompts[1]?.prompt.includes(words));
    await refused(ada.POST("/api/council/sessions/{session}/answers", { params: { path }, body }), 400, "invalid_request");
    const session = await given(ada.GET("/api/council/sessions/{session}", { params: { path } }));
    assert.deepEqual([session.state, session.llm_entries], ["COLLECTING", []]);
    await refused(ada.POST("/api/council/sessions/{session}/answers", { params: { path }, body: { oracles: ["nobody"] } }), 404, "no_oracle");
  });

  test("lists its oracles, each with its text", async () => {
    const all = await given(ada.GET("/api/council/oracles"));
    assert.ok(all.oracles.length >= 18, `there are ${all.oracles.length}`);
    const { id = "" } = all.oracles[0] ?? {};
    const oracle = await given(ada.GET("/api/council/oracles/{oracle}", { params: { path: { oracle: id } } }));
    assert.ok((oracle.content ?? "").includes(oracle.placeholder));
  });

  test("finds, changes, exports and deletes sessions, each user's own", async () => {
    const path = await thinking();
    const find = (client: typeof ada) => client.GET("/api/find", { params: { query: { q: "trust numbers", assistant: "council", limit: 100 } } });
    assert.ok((await given(find(ada))).hits.some((h) => h.session_id === path.session && h.entry === "t1"));
    assert.deepEqual((await given(find(eve))).hits, []);
    const changed = await given(ada.PATCH("/api/council/sessions/{session}", { params: { path }, body: { name: "Moving", ui_preferences: { include_llm_history: false } } }));
    assert.deepEqual([changed.name, changed.language, changed.ui_preferences.include_llm_history], ["Moving", "en", false]);
    const { sessions } = await given(ada.GET("/api/council/sessions", { params: { query: { find: "moving" } } }));
    assert.deepEqual(sessions.map((s) => [s.session_id, s.said, s.answered]), [[path.session, 1, 0]]);
    const file = await ada.GET("/api/council/sessions/{session}/export", { params: { path }, parseAs: "text" });
    assert.ok(file.data?.toString().startsWith("# Moving\n"));
    await refused(eve.GET("/api/council/sessions/{session}", { params: { path } }), 404, "not_found");
    await refused(eve.DELETE("/api/council/sessions/{session}", { params: { path } }), 404, "not_found");
    assert.deepEqual((await given(ada.POST("/api/council/sessions/{session}/repair", { params: { path } }))).findings, []);
    assert.equal((await given(ada.DELETE("/api/council/sessions/{session}", { params: { path } }))).trash, path.session);
    await refused(ada.GET("/api/council/sessions/{session}", { params: { path } }), 404, "not_found");
  });
});

suite("the Inquiry", { timeout: 5 * deadline }, () => {
  const hypothesis = "The Oder bridge was closed because of corrosion";

  /** An inquiry of ada's that has ended, with what its detective asked and its witness answered meanwhile. */
  async function inquired() {
    const begun = await given(ada.POST("/api/inquiries", { body: { hypothesis, witness: "papers", detective: "offline:rules", limit: 5 } }));
    const heard: string[] = [];
    for await (const e of told(ada.GET("/api/runs/{run}/events", { params: { path: { run: begun.run } }, parseAs: "stream" }))) {
      if (e.event === "event" && ["question.put", "answer.heard", "ledger.kept"].includes(e.data.type)) {
        heard.push(e.data.type);
      }
    }
    return { path: { inquiry: begun.id }, run: begun.run, heard };
  }

  test("is told as it goes on, and read as its file has it", async () => {
    const { path, run, heard } = await inquired();
    const session = await given(ada.GET("/api/inquiries/{inquiry}", { params: { path } }));
    const audit = session.auditResult ?? session.provisionalAudit;
    const status: "running" | "completed" | "failed" | "limit-reached" = session.status;
    assert.notEqual(status, "running");
    assert.deepEqual([session.id, session.run, session.hypothesis.text, session.witness?.documents?.[0]?.name], [path.inquiry, run, hypothesis, "bridge.txt"]);
    assert.ok(session.qaPairs.length > 0 && audit !== undefined);
    assert.deepEqual(heard.slice(0, 3), ["question.put", "answer.heard", "ledger.kept"]);
    assert.equal(heard.filter((type) => type === "ledger.kept").length, session.qaPairs.length);
    const { inquiries } = await given(ada.GET("/api/inquiries"));
    const item = inquiries.find((i) => i.id === path.inquiry);
    assert.deepEqual([item?.status, item?.pairs, item?.consistencyScore], [status, session.qaPairs.length, audit.consistencyScore]);
    await refused(eve.GET("/api/inquiries/{inquiry}", { params: { path } }), 404, "not_found");
    await refused(ada.POST("/api/inquiries/{inquiry}/stop", { params: { path } }), 409, "ended");
    await refused(ada.POST("/api/inquiries", { body: { hypothesis, witness: "elsewhere" } }), 404, "no_folder");
  });

  test("gives a page of evidence that can be verified, and one that was changed can't", async () => {
    const { path } = await inquired();
    const { data: page = "", response } = await ada.GET("/api/inquiries/{inquiry}/export", { params: { path, query: { format: "html" } }, parseAs: "text" });
    assert.match(response.headers.get("Content-Security-Policy") ?? "", /^default-src 'none'; style-src 'sha256-/);
    const verify = (text: string) =>
      ada.POST("/api/inquiries/verify", { params: { query: { documents: "papers" } }, body: "", bodySerializer: () => text, headers: { "Content-Type": "text/html" } });
    const report = await given(verify(page.toString()));
    assert.deepEqual([report.ok, report.page, report.session, report.checks.find((c) => c.name === "documents")?.outcome], [true, true, path.inquiry, "holds"]);
    assert.equal((await given(verify(page.toString().replace("corrosion", "erosion")))).ok, false);
  });
});

suite("what can't be done is refused with a problem", { timeout: 5 * deadline }, () => {
  test("who shows no token, or a wrong one", async () => {
    await refused(program.client().GET("/api/me"), 401, "no_token");
    await refused(program.client({ Authorization: "Bearer sibyl_wrong" }).GET("/api/runs"), 401, "wrong_token");
  });

  test("a change by a token that may only read", async () => {
    const reader = await program.user("reader", "--scope", "read");
    assert.deepEqual((await given(reader.GET("/api/runs"))).runs, []);
    await refused(reader.POST("/api/runs", { body: { assistant: "oracle", words: question } }), 403, "scope");
  });

  test("a body or a parameter that the types forbid: it is 400", async () => {
    const words = question;
    // @ts-expect-error there are no words
    await refused(ada.POST("/api/runs", { body: { assistant: "oracle" } }), 400, "invalid_request");
    // @ts-expect-error words are a text
    await refused(ada.POST("/api/runs", { body: { assistant: "oracle", words: 7 } }), 400, "invalid_request");
    // The types know the options of all assistants, and not whose they are.
    await refused(ada.POST("/api/runs", { body: { assistant: "oracle", words, options: { max_turns: "many" } } }), 400, "invalid_request");
    await refused(ada.POST("/api/runs", { body: { assistant: "oracle", words, options: { model: 7 } } }), 400, "invalid_request");
    // @ts-expect-error a body belongs to it
    await refused(ada.POST("/api/runs", {}), 400, "invalid_request");
    // @ts-expect-error there is no such parameter
    await refused(ada.GET("/api/runs", { params: { query: { page: 2 } } }), 400, "invalid_request");
    // @ts-expect-error there is no such form
    await refused(ada.GET("/api/sessions/{session}/export", { params: { path: { session: "0" }, query: { format: "pdf" } } }), 400, "invalid_request");
  });

  test("a value that no type forbids: it is 400, or 404 for a name", async () => {
    await refused(ada.GET("/api/runs", { params: { query: { limit: 0 } } }), 400, "invalid_request");
    await refused(ada.POST("/api/runs", { body: { assistant: "oracle", words: " " } }), 400, "invalid_request");
    const more = { assistant: "oracle", words: question, code: "notes" }; // which belongs into the options
    await refused(ada.POST("/api/runs", { body: more }), 400, "invalid_request");
    await refused(ada.POST("/api/runs", { body: { assistant: "nobody", words: question } }), 400, "invalid_request");
    await refused(ada.POST("/api/runs", { body: { assistant: "oracle", words: question, options: { code: "elsewhere" } } }), 404, "no_folder");
    await refused(ada.POST("/api/runs", { body: { assistant: "oracle", words: question, session: "nothing" } }), 404, "not_found");
    await refused(ada.GET("/api/runs/{run}", { params: { path: { run: "no id at all" } } }), 404, "not_found");
  });

  test("whatever names something of another user, as if it were not there", async () => {
    const run = await answered();
    const theirs = (one: { run: string; session: string }) => [
      eve.GET("/api/runs/{run}", { params: { path: one } }),
      eve.GET("/api/runs/{run}/explanation", { params: { path: one } }),
      eve.GET("/api/runs/{run}/events", { params: { path: one } }),
      eve.POST("/api/runs/{run}/cancel", { params: { path: one } }),
      eve.POST("/api/runs/{run}/resume", { params: { path: one } }),
      eve.GET("/api/sessions/{session}", { params: { path: one } }),
      eve.GET("/api/sessions/{session}/audit", { params: { path: one } }),
      eve.GET("/api/sessions/{session}/export", { params: { path: one } }),
      eve.PATCH("/api/sessions/{session}", { params: { path: one }, body: { title: "mine" } }),
      eve.DELETE("/api/sessions/{session}", { params: { path: one } }),
      eve.POST("/api/runs", { body: { assistant: "oracle", words: question, session: one.session } }),
      eve.POST("/api/ask", { body: { question, session: one.session } }),
    ].map((answer) => refused(answer, 404, "not_found"));
    const adas = await Promise.all(theirs({ run: run.id, session: run.session_id }));
    assert.deepEqual(adas, await Promise.all(theirs({ run: "nothing", session: "nothing" })));
    const kept = await given(ada.GET("/api/sessions/{session}", { params: { path: { session: run.session_id } } }));
    assert.deepEqual([kept.title, kept.runs], [question, 1]);
  });

  test("more streams than a user may have open, until Retry-After", async () => {
    const greedy = await program.user("greedy");
    const watch = () => greedy.GET("/api/events", { parseAs: "stream" });
    const open = [];
    let answer = await watch();
    for (; answer.data && open.length < 100; answer = await watch()) {
      open.push(answer.data);
    }
    await refused(Promise.resolve(answer), 429, "too_many_streams");
    const wait = Number(answer.response.headers.get("Retry-After"));
    assert.ok(Number.isInteger(wait) && wait >= 1 && wait <= 60, `Retry-After is ${wait}`);
    assert.equal((await given(greedy.GET("/api/me"))).user, "greedy"); // what is no stream goes on
    await Promise.all(open.map((stream) => stream.cancel()));
  });
});
