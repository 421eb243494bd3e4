package agent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sibyl/internal/agent"
	"sibyl/internal/tool"
)

func TestToolIsMeantInAnySpellingOfItsName(t *testing.T) {
	offered := []string{"code_search", "code_read", "vault_read", "web-fetch", "srv__do_it"}
	for name, want := range map[string]string{
		"code_search": "code_search", "functions.code_search": "code_search", "default_api:code_search": "code_search",
		"default_api.code_search": "code_search", "tools/code_search": "code_search", "CodeSearch": "code_search",
		"codeSearch": "code_search", "code-search": "code_search", "code search": "code search", "code.search": "code_search",
		"CODE_SEARCH": "code_search", "functions.code_search:0": "code_search", "code_search()": "code_search",
		"code_search" + lt + "|channel|>commentary": "code_search", "code_search commentary": "code_search",
		"web_fetch": "web-fetch", "functions::vault_read": "vault_read", "srv.do_it": "srv__do_it", "read": "read", "": "",
		"search": "search", "code_searches": "code_searches", "other.thing": "other.thing",
	} {
		if got := agent.OfferedName(name, offered); got != want {
			t.Errorf("%q means %q; want %q", name, got, want)
		}
	}
	if got := agent.OfferedName("A_B", []string{"a_b", "ab"}); got != "A_B" {
		t.Errorf("a name that two tools may have means %q", got)
	}
}

func TestWhatLooksLikeACallIsNoAnswerAndIsRefusedByName(t *testing.T) {
	specs := []tool.Spec{
		{Name: "read", Schema: json.RawMessage(`{"type":"object","required":["path"]}`)},
		{Name: "write", Effect: tool.Once, Schema: json.RawMessage(`{"type":"object"}`)},
	}
	for name, c := range map[string]struct{ text, call, rest string }{
		"a tool that is not offered": {open + `{"name": "delete it", "arguments": {}}` + shut, "delete_it", ""},
		"a tool that writes":         {open + `{"name": "write", "arguments": {}}` + shut, "write_as_text", ""},
		"arguments that lack one":    {invokeOf("read", ""), "read_as_text", ""},
		"without its end":            {"I look.\n" + open + `{"name": "read", "arguments": {"pa`, "read_as_text", "I look.\n"},
		"tokens":                     {token("tool_call_begin") + "functions.gone:1" + token("tool_call_argument_begin") + "{}", "gone", ""},
		"a function without its end": {element("read", "x")[:len(element("read", "x"))-len(end)], "read_as_text", ""},
		"JSON of an offered tool":    {`{"name": "write", "arguments": {"path": "a"}}`, "write_as_text", ""},
		"a fence of an offered tool": {"So:\n```json\n" + `{"name": "read", "arguments": {}}` + "\n```", "read_as_text", "So:\n"},
	} {
		calls, rest := agent.RefusedCalls(c.text, specs)
		if len(calls) != 1 || calls[0].Name != c.call || rest != c.rest {
			t.Errorf("%s: %+v, rest %q; want %s, %q", name, calls, rest, c.call, c.rest)
		}
	}
	if calls, rest := agent.RefusedCalls("I save. "+open+`{"name": "write", "arguments": {}}`+shut, specs); calls != nil ||
		rest != "I save. " {
		t.Errorf("a tool that writes, beside a text: %+v, rest %q", calls, rest)
	}
	for _, text := range []string{"It is so.", `{"name": "delete", "arguments": {}}`, "```json\n" + `{"name": "gone"}` + "\n```",
		"Write `" + open + "` first.", "```\n" + open + "x" + shut + "\n```", "> " + open + "x" + shut, `{"name": "read"}`,
		open + "x" + shut + " is how it is written, and more follows.", strings.Repeat("a", 70_000) + open,
		"a list: [read(x) for x in y]", "a <| b"} {
		if calls, rest := agent.RefusedCalls(text, specs); calls != nil || rest != text {
			t.Errorf("%.60q: %+v, rest %.60q", text, calls, rest)
		}
	}
}

func invokeOf(name, body string) string {
	return lt + `invoke name="` + name + `">` + body + lt + "/invoke>"
}
