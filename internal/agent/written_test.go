package agent_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/signal"
	"sibyl/internal/tool"
)

// offered are the tools of these tests: read wants a path, and takes lines.
var offered = []tool.Spec{
	{Name: "read", Effect: tool.Repeatable,
		Schema: json.RawMessage(
			`{"type":"object","properties":{"path":{"type":"string"},"start":{"type":"integer"}},"required":["path"]}`)},
	{Name: "list", Effect: tool.Repeatable, Schema: json.RawMessage(`{"type":"object","properties":{}}`)},
	{Name: "write", Effect: tool.Once,
		Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)},
}

// Marks of calls are put together here, so that this file holds none.
const (
	lt     = "<"
	open   = lt + "tool_" + "call>"
	shut   = lt + "/tool_" + "call>"
	end    = lt + "/function>"
	readA  = `{"name": "read", "arguments": {"path": "a"}}`
	readB  = `{"name":"read","parameters":{"path":"b","start":3}}`
	python = lt + "|python_" + "tag|>"
	calls  = "[TOOL_" + "CALLS]"
)

var invoke = lt + `invoke name="read">` + "\n" + lt + `parameter name="path">a` + lt + "/parameter>\n" + lt +
	`parameter name="start">3` + lt + "/parameter>\n" + lt + "/invoke>\n"

func token(name string) string { return lt + "|" + name + "|>" }

func wide(name string) string { return lt + "｜" + name + "｜>" }

func element(name, body string) string { return lt + "function=" + name + ">" + body + end }

func parameter(name, value string) string {
	return lt + "parameter=" + name + ">" + value + lt + "/parameter>\n"
}

// writtenCalls are replies, with the calls that are in them, and how much of them is text.
var writtenCalls = []struct{ name, text, calls, rest string }{
	{"Hermes", open + "\n" + readA + "\n" + shut, `read {"path": "a"}`, ""},
	{"HermesAfterProse", "I look. " + open + `{"arguments": {"path": "a"}, "name": "read"}` + shut + "\n",
		`read {"path": "a"}`, "I look. "},
	{"HermesTwice", "I look.\n" + open + readA + shut + "\n" + open + readB + shut,
		`read {"path": "a"} read {"path":"b","start":3}`, "I look.\n"},
	{"HermesBeforeProse", open + readA + shut + " is how.", "", ""},
	{"HermesWithoutEnd", "I look.\n" + open + readA, `read {"path": "a"}`, "I look.\n"},
	{"HermesWithoutEndBeforeProse", open + readA + "\nThat is all.", "", ""},
	{"HermesWithoutTheEndOfItsObject", open + `{"name": "read", "arguments": {"path": "a"`, "", ""},
	{"HermesWithoutEndTwice", open + readA + open + readB, `read {"path": "a"} read {"path":"b","start":3}`, ""},
	{"HermesInAFence", "So:\n```\n" + open + readA + shut + "\n```", "", ""},
	{"HermesInAnOpenFence", "So:\n```\n" + open + readA + shut, "", ""},
	{"HermesInASpan", "Write `" + open + readA + shut + "`", "", ""},
	{"HermesInAQuotedLine", "> " + open + readA + shut, "", ""},
	{"HermesEmpty", open + shut, "", ""},
	{"HermesWithMoreInIt", open + readA + " or so" + shut, "", ""},
	{"Llama", readB, `read {"path":"b","start":3}`, ""},
	{"LlamaAfterProse", "I look.\n\n" + readB + "\n", `read {"path":"b","start":3}`, "I look.\n\n"},
	{"LlamaWithItsType", `{"type": "function", "name": "list", "parameters": {}}`, `list {}`, ""},
	{"LlamaInALine", "I write " + readB, "", ""},
	{"LlamaWithItsMark", python + readB, `read {"path":"b","start":3}`, ""},
	{"LlamaInAnotherOrder", `{"parameters": {"path": "a"}, "name": "read"}`, "", ""},
	{"List", "[" + readA + "]", "", ""},
	{"Fence", "I look.\n```json\n" + readA + "\n```\n", `read {"path": "a"}`, "I look.\n"},
	{"FenceWithAList", "```json\n[" + readA + ",\n " + readB + "]\n```",
		`read {"path": "a"} read {"path":"b","start":3}`, ""},
	{"FenceWithoutALanguage", "```\n" + readA + "\n```", `read {"path": "a"}`, ""},
	{"FenceOfAnotherLanguage", "```python\n" + readA + "\n```", "", ""},
	{"FenceBeforeProse", "```json\n" + readA + "\n```\nis what the file says.", "", ""},
	{"FenceNeverClosed", "```json\n" + readA, "", ""},
	{"FenceInAFence", "````\n```json\n" + readA + "\n```\n", "", ""},
	{"FenceWithAnotherOrder", "```json\n[" + `{"arguments": {"path": "a"}, "name": "read"}` + "]\n```", "", ""},
	{"EmptyFence", "```json\n\n```", "", ""},
	{"EmptyListInAFence", "```json\n[]\n```", "", ""},
	{"Mistral", calls + " [" + readA + `, {"name": "list", "arguments": {}, "id": "x1"}]`, `read {"path": "a"} list {}`,
		""},
	{"Qwen", open + "\n" + element("read", "\n"+parameter("path", "\na\nb\n")+parameter("start", "3")) + "\n" + shut,
		`read {"path":"a\nb","start":3}`, ""},
	{"QwenWithoutItsFrame", element("read", parameter("path", "12")), `read {"path":"12"}`, ""},
	{"QwenWithAWordForANumber", element("read", parameter("path", "a")+parameter("start", "two")),
		`read {"path":"a","start":"two"}`, ""},
	{"QwenWithAnArgumentTwice", element("read", parameter("path", "a")+parameter("path", "b")), "", ""},
	{"QwenWithAnObject", element("read", `{"path": "a"}`), `read {"path": "a"}`, ""},
	{"QwenWithOtherText", element("read", "path a"), "", ""},
	{"ToolThatWrites", open + `{"name": "write", "arguments": {"path": "a"}}` + shut, "", ""},
	{"ToolThatIsNotOffered", `{"name": "delete", "arguments": {}}`, "", ""},
	{"NameInAnotherCase", `{"name": "Read", "arguments": {"path": "a"}}`, "", ""},
	{"RequiredArgumentMissing", `{"name": "read", "arguments": {"start": 3}}`, "", ""},
	{"ArgumentsAsText", `{"name": "read", "arguments": "{\"path\": \"a\"}"}`, "", ""},
	{"ArgumentsTwice", `{"name": "read", "arguments": {"path": "a"}, "parameters": {"path": "b"}}`, "", ""},
	{"DefinitionOfATool", `{"name": "read", "parameters": {"path": "a"}, "description": "reads"}`, "", ""},
	{"OneOfTwoIsNotOffered", open + `{"name": "delete", "arguments": {}}` + shut + "\n" + open + readA + shut,
		`read {"path": "a"}`,
		open + `{"name": "delete", "arguments": {}}` + shut + "\n"},
	{"IndentedCode", "So:\n\n    " + readA, "", ""},
	{"LongReply", strings.Repeat("word ", 14000) + "\n" + readA, "", ""},
	{"CallAsCode", `read({"path": "a"})`, "", ""},
	{"FunctionBlockWithAnOrphanEnd", element("read", parameter("path", "a")) + "\n" + shut, `read {"path":"a"}`, ""},
	{"NameInAnotherSpelling", open + `{"name": "functions.Read", "arguments": {"path": "a"}}` + shut,
		`read {"path": "a"}`, ""},
	{"ListInAnElement", open + "[" + readA + "]" + shut, `read {"path": "a"}`, ""},
	{"ArgumentsAsTextInAnElement", open + `{"name": "read", "arguments": "{\"path\": \"a\"}"}` + shut,
		`read {"path": "a"}`, ""},
	{"PartsUnderOtherNames", open + `{"tool": "read", "args": {"path": "a"}}` + shut, `read {"path": "a"}`, ""},
	{"FunctionInAnObject", open + `{"type": "function", "function": {"name": "read", "arguments": {"path": "a"}}}` + shut,
		`read {"path": "a"}`, ""},
	{"GLM", open + "read\n" + lt + "arg_key>path" + lt + "/arg_key>\n" + lt + "arg_value>a" + lt + "/arg_value>\n" + shut,
		`read {"path":"a"}`, ""},
	{"MistralWithArgs", calls + "read[ARGS]" + `{"path": "a"}`, `read {"path": "a"}`, ""},
	{"Invocation", lt + "function_" + "calls>\n" + invoke + lt + "/function_" + "calls>", `read {"path":"a","start":3}`, ""},
	{"InvocationAlone", "I look.\n" + invoke, `read {"path":"a","start":3}`, "I look.\n"},
	{"InvocationOfMiniMax", lt + "minimax:tool_" + "call>\n" + invoke + lt + "/minimax:tool_" + "call>",
		`read {"path":"a","start":3}`, ""},
	{"InvocationOfDeepSeek", lt + "｜DSML｜function_" + "calls>\n" + strings.NewReplacer(lt+"/", lt+"/｜DSML｜", lt, lt+"｜DSML｜").
		Replace(invoke) + lt + "/｜DSML｜function_" + "calls>", `read {"path":"a","start":3}`, ""},
	{"DeepSeek", wide("tool▁calls▁begin") + wide("tool▁call▁begin") + "function" + wide("tool▁sep") +
		"read\n```json\n" + `{"path": "a"}` + "\n```" + wide("tool▁call▁end") + wide("tool▁calls▁end"),
		`read {"path": "a"}`, ""},
	{"DeepSeekNewer", wide("tool▁calls▁begin") + wide("tool▁call▁begin") + "read" + wide("tool▁sep") + `{"path": "a"}` +
		wide("tool▁call▁end") + wide("tool▁call▁begin") + "list" + wide("tool▁sep") + `{}` + wide("tool▁call▁end") +
		wide("tool▁calls▁end"), `read {"path": "a"} list {}`, ""},
	{"Kimi", token("tool_calls_section_begin") + token("tool_call_begin") + "functions.read:0" +
		token("tool_call_argument_begin") + `{"path": "a"}` + token("tool_call_end") + token("tool_calls_section_end"),
		`read {"path": "a"}`, ""},
	{"Harmony", token("channel") + "commentary to=functions.read " + token("constrain") + "json" + token("message") +
		`{"path": "a"}` + token("call"), `read {"path": "a"}`, ""},
	{"HarmonyInTheWrongChannel", token("start") + "assistant" + token("channel") + "analysis to=functions.read code" +
		token("message") + `{"path": "a"}` + token("call"), `read {"path": "a"}`, ""},
	{"Phi", token("tool_call") + "[" + readA + "]" + token("/tool_call"), `read {"path": "a"}`, ""},
	{"Cohere", token("START_ACTION") + `[{"tool_call_id": "0", "tool_name": "read", "parameters": {"path": "a"}}]` +
		token("END_ACTION"), `read {"path": "a"}`, ""},
	{"Python", `[read(path="a", start=3), list()]`, `read {"path":"a","start":3} list {}`, ""},
	{"PythonInAToolBlock", "```tool_" + "code\nprint(default_api.read(path='a'))\n```", `read {"path":"a"}`, ""},
	{"PythonThatIsNoCall", `[read(x) for x in y]`, "", ""},
	{"PythonWithACallInIt", `[read(path=list())]`, "", ""},
	{"KimiWithArgumentsAsText", token("tool_calls_section_begin") + token("tool_call_begin") + "functions.read:1" +
		token("tool_call_argument_begin") + `"{\"path\": \"a\"}"` + token("tool_call_end") + token("tool_calls_section_end"),
		`read {"path": "a"}`, ""},
	{"KimiWithAPlainName", token("tool_call_section_begin") + token("tool_call_begin") + "read:0" +
		token("tool_call_argument_begin") + `{"path": "a"}` + token("tool_call_end"), `read {"path": "a"}`, ""},
	{"DeepSeekWithDoubledBars", strings.NewReplacer(lt+"/", lt+"/｜｜DSML｜｜ ", lt, lt+"｜｜DSML｜｜ ").Replace(lt + "tool_" + "calls>\n" +
		invoke + lt + "/tool_" + "calls>"), `read {"path":"a","start":3}`, ""},
	{"HarmonyWithTheToolAsItsReader", token("start") + "assistant to=functions.read" + token("channel") + "commentary " +
		token("constrain") + "json" + token("message") + `{"path": "a"}` + token("call"), `read {"path": "a"}`, ""},
	{"LlamaAsPython", token("python_tag") + `read(path="a")`, `read {"path":"a"}`, ""},
	{"LlamaAsAMethod", token("python_tag") + `read.call(path="a")`, `read {"path":"a"}`, ""},
	{"LlamaTwice", token("python_tag") + readA + "; " + readB, `read {"path": "a"} read {"path":"b","start":3}`, ""},
	{"FrameOfAnyName", lt + "TOOLCALL>[" + readA + "]" + lt + "/TOOLCALL>", `read {"path": "a"}`, ""},
	{"FrameOfAListInAnElement", "I look.\n" + lt + "tool_" + "calls>[\n" + readA + "\n]" + lt + "/tool_" + "calls>",
		`read {"path": "a"}`, "I look.\n"},
	{"FrameOfUse", lt + "tool_" + "use>\n" + readA + "\n" + lt + "/tool_" + "use>", `read {"path": "a"}`, ""},
	{"FrameOfPython", lt + "function_" + "calls>\nread(path=\"a\")\nlist()\n" + lt + "/function_" + "calls>",
		`read {"path":"a"} list {}`, ""},
	{"FrameOfAModelsOwn", lt + "seed:tool_" + "call>\n" + element("read", parameter("path", "a")) + "\n" + lt + "/seed:tool_" +
		"call>", `read {"path":"a"}`, ""},
	{"FrameOfAToolThatWrites", lt + "tool_" + "calls>[" + `{"name": "write", "arguments": {"path": "a"}}` + "]" + lt + "/tool_" +
		"calls>", "", ""},
	{"FrameOfProse", lt + "tool_" + "calls>are marked so" + lt + "/tool_" + "calls>", "", ""},
	{"LFM", token("tool_call_start") + `[read(path="a"), list()]` + token("tool_call_end"), `read {"path":"a"} list {}`, ""},
	{"Step", token("tool_calls_begin") + token("tool_call_begin") + "function" + token("tool_sep") + lt +
		`steptml:invoke name="read">` + lt + `steptml:parameter name="path">a` + lt + "/steptml:parameter>" + lt + "/steptml:invoke>" +
		token("tool_call_end") + token("tool_calls_end"), `read {"path":"a"}`, ""},
	{"Apertus", token("tools_prefix") + `[{"read": {"path": "a"}}]` + token("tools_suffix"), `read {"path": "a"}`, ""},
	{"Gemma", lt + `|tool_call>call:read{path:` + lt + `|"|>say "a"` + lt + `|"|>,start:3}` + lt + "tool_call|>",
		`read {"path":"say \"a\"","start":3}`, ""},
	{"QwenWithAnOpenParameter", open + "\n" + lt + "function=read>\n" + lt + "parameter=path>\na\n" + lt + "parameter=start>\n3\n" +
		lt + "/function>\n" + shut, `read {"path":"a","start":3}`, ""},
	{"TokensAroundAToolThatWrites", token("tool_call_begin") + "functions.write:0" + token("tool_call_argument_begin") +
		`{"path": "a"}` + token("tool_call_end"), "", ""},
	{"InvocationOfAToolThatWrites", lt + `invoke name="Write">` + `{"path": "a"}` + lt + "/invoke>", "", ""},
	{"Prose", "It has {braces} and `code`.", "", ""},
}

func TestWrittenCalls(t *testing.T) {
	for _, c := range writtenCalls {
		t.Run(c.name, func(t *testing.T) {
			found, rest := agent.WrittenCalls(c.text, offered)
			var got []string
			for _, call := range found {
				got = append(got, call.Name, call.Arguments)
			}
			if c.calls == "" {
				c.rest = c.text
			}
			same(t, "calls", strings.Join(got, " "), c.calls)
			same(t, "rest", rest, c.rest)
		})
	}
}

func TestWrittenCallsHaveIdsOfTheirOwn(t *testing.T) {
	found, _ := agent.WrittenCalls(open+readA+shut+open+readB+shut, offered)
	same(t, "calls", found, []model.ToolCall{{ID: "call_written_1", Name: "read", Arguments: `{"path": "a"}`},
		{ID: "call_written_2", Name: "read", Arguments: `{"path":"b","start":3}`}})
}

// signals are forms of signals, and of what is around them.
var signals = []string{"Signal:\n", "```", "\n", "> ", lt + "think>", lt + "/think>", lt + `signal type="stuck"/>`,
	lt + " SIGNAL type=stuck>", "&lt;signal type='stuck'&gt;&lt;/signal&gt;",
	`{"type": "stuck", "blocker": "x"}`, `{"signal": {"type": "stuck"}}`, "&lt;", "{"}

func TestWhatToolsSaidHoldsNeitherCallsNorSignals(t *testing.T) {
	forms := slices.Clone(signals)
	for _, c := range writtenCalls {
		forms = append(forms, c.text)
	}
	rapid.Check(t, func(r *rapid.T) {
		inert(t, strings.Join(rapid.SliceOf(rapid.SampledFrom(forms)).Draw(r, "parts"), ""))
	})
}

func inert(t *testing.T, text string) {
	t.Helper()
	said := signal.Neutralise(text)
	found, rest := agent.WrittenCalls(said, offered)
	assert.Require(t, found == nil && rest == said, "calls %v are found in %q", found, said)
	clean, r := signal.Extract(said)
	assert.Require(t, clean == said && r.Signal == nil && r.Problems == nil, "a signal is found in %q", said)
}

func FuzzWrittenCalls(f *testing.F) {
	for _, c := range writtenCalls {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		found, rest := agent.WrittenCalls(text, offered)
		for _, call := range found {
			assert.That(t, slices.Contains([]string{"read", "list"}, call.Name) && strings.HasPrefix(call.Arguments, "{") &&
				json.Valid([]byte(call.Arguments)), "a call that was not offered: %+v", call)
		}
		again, left := agent.WrittenCalls(rest, offered)
		assert.That(t, again == nil && left == rest && strings.HasPrefix(text, rest),
			"%q has rest %q, which has calls %v", text, rest, again)
		inert(t, text)
	})
}

// What is looked at again for each place where calls may begin takes more than a minute here.
func TestCallsThatAReplyRepeatsUntilItIsCutAreReadOnce(t *testing.T) {
	text := strings.Repeat(`{"name":"read","arguments":{}}`+"\n", 2000) + `{"name":"re`
	offered := []tool.Spec{{Name: "read", Schema: json.RawMessage(`{}`)}}
	allocated := testing.AllocsPerRun(1, func() {
		calls, rest := agent.WrittenCalls(text, offered)
		assert.That(t, calls == nil && rest == text, "it has %d calls", len(calls))
	})
	assert.That(t, allocated <= 200*2000, "2000 calls take %.0f allocations", allocated)
}

func TestCallBehindMuchThatLooksLikeOneIsFound(t *testing.T) {
	found, _ := agent.WrittenCalls(strings.Repeat("{ {\n", 9000)+readB, offered)
	same(t, "calls", len(found), 1)
}
