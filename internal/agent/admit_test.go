package agent_test

import (
	"fmt"
	"strings"
	"testing"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/tool"
)

// decided takes calls of one turn through Admit, and gives the verdict on the first.
func (b *bench) decided(c call) agent.Verdict {
	b.t.Helper()
	b.propose(c)
	return b.Admitted[0]
}

func TestWhatWasReadDecidesWhereACallMayGo(t *testing.T) {
	const known = "https://example.org/a?b=c"
	fetch := func(url string) call { return call{tool: "fetch", args: `{"url":"` + url + `"}`} }
	find := func(query string) call { return call{tool: "find", args: `{"query":"` + query + `"}`} }
	write, theirs := call{tool: "write", args: `{"path":"n"}`}, call{tool: "theirs", args: `{"what":"x"}`}
	var (
		person   = agent.Public
		own      = agent.LabelledAs(agent.Own, true)
		page     = agent.LabelledAs(agent.Stranger, false)
		everyone = agent.LabelledAs(agent.Stranger, true)
	)
	for _, c := range []struct {
		name string
		seen agent.Labels
		call call
		rule agent.Rule // "": it is held or refused
		held bool
	}{
		{"a file is read whatever was seen", everyone, reads("a"), agent.RuleStays, false},
		{"a write for the person's words", person, write, agent.RuleWords, false},
		{"a write after own notes", own, write, agent.RuleWords, false},
		{"a write after a page", page, write, "", true},
		{"a page with nothing private seen", page, fetch("https://evil.example/x"), agent.RulePublic, false},
		{"a page after own notes", own, fetch("https://evil.example/x"), "", true},
		{"a page that the person named", everyone, fetch(known), agent.RuleKnown, false},
		{"the same page over http", own, fetch("http://example.org/a?b=c"), agent.RuleKnown, false},
		{"the same page with a fragment", own, fetch(known + "#top"), agent.RuleKnown, false},
		{"another query of that page", own, fetch("https://example.org/a?b=d"), "", true},
		{"another path of that host", own, fetch("https://example.org/A?b=c"), "", true},
		{"a host below it", own, fetch("https://secret.example.org/a?b=c"), "", true},
		{"another port", own, fetch("https://example.org:8443/a?b=c"), "", true},
		{"that page with a user", own, fetch("https://secret@example.org/a?b=c"), "", false},
		{"no address", own, call{tool: "fetch", args: `{"url":7}`}, "", false},
		{"two addresses under one name", own, call{tool: "fetch", args: `{"url":"` + known +
			`","url":"https://evil.example/"}`}, "", false},
		{"a query and nothing under one name", own, call{tool: "find", args: `{"query":"secret","query":null}`}, "",
			false},
		{"a name twice, further in", person, call{tool: "write", args: `{"path":"n","of":[{"a":1,"a":2}]}`}, "", false},
		{"a name in two objects", person, call{tool: "write", args: `{"path":"n","of":[{"a":1},{"a":2}]}`},
			agent.RuleWords, false},
		{"a query with nothing private seen", page, find(strings.Repeat("x", 300)), agent.RulePublic, false},
		{"a short query after own notes", own, find("idle timeout"), agent.RuleQuery, false},
		{"a long query after own notes", own, find(strings.Repeat("x", 201)), "", true},
		{"a server of somebody else's with nothing private seen", page, theirs, agent.RulePublic, false},
		{"a server of somebody else's after own notes", own, theirs, "", true},
		{"a tool that was not offered", person, call{tool: "unknown", args: "{}"}, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := set(t, runTools)
			b.Ledger.Labels, b.Words = c.seen, "Look at "+known+", please."
			v := b.decided(c.call)
			same(t, "rule", v.Rule, c.rule)
			same(t, "refused", v.Refused.Text != "", c.rule == "")
			same(t, "held", len(b.Held) == 1, c.held)
		})
	}
}

func TestCallForWhichTooManyOthersWaitIsSaidNotToWait(t *testing.T) {
	b := set(t, runTools)
	b.Ledger.Labels = agent.LabelledAs(agent.Stranger, true)
	fetch := func(n int) call { return call{tool: "fetch", args: fmt.Sprintf(`{"url":"https://x.example/%d"}`, n)} }
	for n := range 8 {
		v := b.decided(fetch(n))
		assert.That(t, strings.Contains(v.Refused.Text, "so the person is asked first"), "call %d: %+v", n, v)
	}
	v := b.decided(fetch(8))
	assert.That(t, strings.Contains(v.Refused.Text, "8 other calls wait for the person already"), "the ninth: %+v", v)
	v = b.decided(fetch(0))
	assert.That(t, strings.Contains(v.Refused.Text, "so the person is asked first"), "one that waits: %+v", v)
	same(t, "calls that wait", len(b.Held), 8)
	v = b.decided(call{tool: "write", args: `{"path":"n"}`})
	assert.That(t, strings.Contains(v.Refused.Text, "so the person is asked first"),
		"a write beside all those addresses: %+v", v)
	same(t, "what the person is told", len(b.Ledger.Notices), 1)
	same(t, "of what", b.Ledger.Notices[0].Payload, map[string]string{"tool": "fetch"})
}

func TestAddressOfASearchIsKnownAndThatOfAPageIsNot(t *testing.T) {
	b := set(t, runTools)
	found := func(name, url string) call {
		return call{tool: name, args: `{"query":"q","url":"u"}`, gives: tool.Result{Text: url, Items: 1,
			Refs: []tool.Ref{{Source: tool.Web, URL: url}}}}
	}
	b.turn(false, found("find", "https://hit.example/"), found("fetch", "https://link.example/"), reads("a"))
	same(t, "a hit", b.decided(call{tool: "fetch", args: `{"url":"https://hit.example"}`}).Rule, agent.RuleKnown)
	same(t, "a link", b.decided(call{tool: "fetch", args: `{"url":"https://link.example/"}`}).Rule, agent.Rule(""))
}

func TestTreeThatAdmitsNothingPerformsNothing(t *testing.T) {
	b := set(t, `<RunTools reply="{reply}" admitted="{admitted}" tools="{tools}" ledger="{ledger}" transcript="{transcript}"/>`)
	_, asked := b.propose(reads("a"))
	same(t, "requests", len(asked), 0)
	same(t, "why not", b.Transcript[0].Tools[0].Refused, "the tree has not admitted it")
}

func TestAddressesInAreThoseThatAPersonWrites(t *testing.T) {
	for text, addresses := range map[string][]string{
		"see https://go.dev/doc/effective_go#names.":        {"https://go.dev/doc/effective_go"},
		"(www.heise.de/news), and golang.org":               {"https://www.heise.de/news", "golang.org"},
		"read “http://127.0.0.1:8080/x?y=1&z=%20”, please!": {"http://127.0.0.1:8080/x?y=1&z=%20"},
		"https://en.wikipedia.org/wiki/Mercury_(planet)":    {"https://en.wikipedia.org/wiki/Mercury_(planet)"},
		"See https://en.wikipedia.org/wiki/Foo_(bar).":      {"https://en.wikipedia.org/wiki/Foo_(bar)"},
		"(https://en.wikipedia.org/wiki/Foo_(bar))":         {"https://en.wikipedia.org/wiki/Foo_(bar)"},
		"[https://a.example/x](https://a.example/x)":        {"https://a.example/x"},
		"example.com?x=1, example.com:8443/x":               {"https://example.com/?x=1", "https://example.com:8443/x"},
		"https://a.example/long…":                           {"https://a.example/long"},
		"HTTPS://Example.ORG":                               {"https://example.org/"},
	} {
		known := agent.AddressesIn(text)
		for _, a := range addresses {
			n := agent.Address(a)
			assert.That(t, n != "" && contains(known, n), "%q does not name %s", text, a)
		}
	}
	for _, text := range []string{"What is 3.14?", "version v1.2.3", "Is main.go. tested", "no address at all"} {
		for _, a := range agent.AddressesIn(text) {
			assert.That(t, a != agent.Address("evil.example"), "%q names an address", text)
		}
	}
}

func contains(all []string, one string) bool {
	for _, a := range all {
		if a == one {
			return true
		}
	}
	return false
}

func TestWordsOfThePersonThatAreAYes(t *testing.T) {
	one := []agent.Waiting{{Tool: "a"}}
	two := []agent.Waiting{{Tool: "a"}, {Tool: "b"}}
	for _, c := range []struct {
		words   string
		waiting []agent.Waiting
		allowed []int
	}{
		{"yes", one, []int{1}}, {"Yes.", one, []int{1}}, {"ja", one, []int{1}}, {"sim", one, []int{1}}, {"ok!", one, nil},
		{"Okay", one, nil}, {"1", one, []int{1}},
		{"yes", two, nil}, {"2", two, []int{2}}, {"yes, 1 and 2", two, []int{1, 2}}, {"2 2", two, []int{2}},
		{"3", two, nil}, {"0", two, nil}, {"no", one, nil}, {"yes, but only later", one, nil}, {"", one, nil},
		{".", one, nil},
		{"yes please save it and delete the rest", one, nil}, {"yes", nil, nil},
	} {
		same(t, c.words, agent.AllowedBy(c.words, c.waiting, false), c.allowed)
	}
	for words, allowed := range map[string][]int{"yes": nil, "ok": nil, "1": nil, "yes 1": {1}} {
		same(t, words+", where the answer asks something, too", agent.AllowedBy(words, one, true), allowed)
	}
}

func TestQueryOfOtherWordsWaitsForThePerson(t *testing.T) {
	b := set(t, runTools)
	b.Ledger.Labels = agent.LabelledAs(agent.Own, true)
	query := call{tool: "find", args: `{"query":"zebra-4711-kiwi"}`,
		held: "private text was read in this run, and neither the person nor the web said “zebra-4711-kiwi”"}
	b.turn(false, reads("a"), query, reads("b"))
	same(t, "what waits", b.Held, []agent.Held{{Turn: 1, Call: 1, Tool: "find", Digest: b.Reply.Calls[1].Digest,
		Why: bt.Because(query.held), Size: len(query.args)}})
	same(t, "the others", []int64{b.Transcript[0].Tools[0].Ref, b.Transcript[0].Tools[2].Ref}, []int64{2, 4})
	told := b.Transcript[0].Tools[1].Refused
	assert.That(t, strings.Contains(told, "the person is asked first"), "the model is told: %s", told)
	same(t, "labels", b.Ledger.Labels, agent.LabelledAs(agent.Own, true))
	same(t, "calls that are counted", agent.Total(b.Ledger.Sources).Calls, 2)
	b.Said.Yes = []agent.Waiting{{Tool: "find", Arguments: query.args}}
	same(t, "rule after the yes", b.decided(query).Rule, agent.RuleAllowed)
}

func TestYesLetsACallThroughOnceHoweverItIsWritten(t *testing.T) {
	b := set(t, runTools)
	b.Ledger.Labels = agent.LabelledAs(agent.Stranger, true)
	b.Said.Yes = []agent.Waiting{{Tool: "write", Arguments: `{"path":"a","n":1}`}}
	same(t, "written otherwise", b.decided(call{tool: "write", args: `{ "n": 1, "path": "a" }`}).Rule,
		agent.RuleAllowed)
	same(t, "once more", b.decided(call{tool: "write", args: `{"path":"a","n":1}`}).Rule, agent.Rule(""))
	b = set(t, runTools)
	b.Ledger.Labels = agent.LabelledAs(agent.Stranger, true)
	b.Said.Yes = []agent.Waiting{{Tool: "write", Arguments: `{"path":"a"}`}}
	twice := call{tool: "write", args: `{"path":"a"}`}
	b.propose(twice, twice)
	same(t, "twice in one reply", []agent.Rule{b.Admitted[0].Rule, b.Admitted[1].Rule},
		[]agent.Rule{agent.RuleAllowed, ""})
}

func TestCallThatIsLetThroughLaterWaitsNoMore(t *testing.T) {
	b := set(t, runTools)
	b.Ledger.Labels = agent.LabelledAs(agent.Own, true)
	fetch := call{tool: "fetch", args: `{"url":"https://hit.example/"}`}
	b.propose(fetch)
	same(t, "it waits", len(b.Held), 1)
	b.Words = "https://hit.example/"
	same(t, "rule", b.decided(fetch).Rule, agent.RuleKnown)
	same(t, "it waits then", len(b.Held), 0)
}

func TestWaitingCallHidesNothing(t *testing.T) {
	type shown struct {
		Target string
		Others []agent.Argument
	}
	to := func(target string) shown { return shown{Target: target} }
	with := func(target string, others ...agent.Argument) shown { return shown{target, others} }
	for args, want := range map[string]shown{
		`{"url":"https://x.example/a\u2066b\u2069"}`:          to(`https://x.example/a\u{2066}b\u{2069}`),
		`{"url":"https://p\u0430ypal.example/"}`:              to(`https://p\u{430}ypal.example/`),
		`{"text":"Grüße\u200b, \u202eevil"}`:                  to(`Grüße\u{200b}, \u{202e}evil`),
		`{"text":"hi` + strings.Repeat(" ", 5000) + `there"}`: to(`hi⟨5000 blanks, 0 ends of lines⟩there`),
		`{"text":"hi` + strings.Repeat(`\n`, 500) +
			`there"}`: with("", agent.Argument{Name: "text", Value: "hi⟨0 blanks, 500 ends of lines⟩there"}),
		`{"text":"a\u001b[2Jb\u0000"}`:                    to(`a\u{1b}[2Jb\u{0}`),
		`{"text":"a` + strings.Repeat("\u0301", 4) + `"}`: to("a\u0301\u0301\\u{301}\\u{301}"),
		`{"text":"hi\n2. Not called"}`: with("",
			agent.Argument{Name: "text", Value: "hi\n2. Not called"}),
		`{"a\n2. Not called":1,"b":9007199254740993}`: with("",
			agent.Argument{Name: `a\u{a}2. Not called`, Value: "1"},
			agent.Argument{Name: "b", Value: "9007199254740993"}),
		`{"path":"a.md","content":"b"}`: with("a.md", agent.Argument{Name: "content", Value: "b"}),
		`{"path":"a\nb","query":"q"}`:   with("q", agent.Argument{Name: "path", Value: "a\nb"}),
	} {
		var got shown
		got.Target, got.Others = agent.Waiting{Tool: "t", Arguments: args}.Shown()
		same(t, args, got, want)
	}
}

func TestCallThatIsTooLongToBeReadWaitsForNobody(t *testing.T) {
	b := set(t, runTools)
	b.Ledger.Labels = agent.LabelledAs(agent.Stranger, true)
	long := call{tool: "write", args: `{"path":"` + strings.Repeat("x", 33<<10) + `"}`}
	b.propose(long, call{tool: "write", args: `{"path":"n"}`})
	same(t, "calls that wait", len(b.Held), 1)
	told := b.Admitted[0].Refused.Text
	assert.That(t, strings.Contains(told, "32768 bytes") && !strings.Contains(told, "is asked first"),
		"of the long one the model is told: %s", told)
}

func TestExplanationNamesRuleAndLabels(t *testing.T) {
	b := set(t, runTools)
	b.Ledger.Labels, b.Words = agent.LabelledAs(agent.Own, true), "https://go.example/"
	b.turn(false, call{tool: "fetch", args: `{"url":"https://go.example/"}`, gives: tool.Result{Text: "page",
		Items: 1}}, reads("a"))
	var told []string
	for _, e := range b.told {
		done := e.(agent.CallDone)
		told = append(told, fmt.Sprintf("%s: %s (%s)", done.Tool, done.Text, done.Labels))
	}
	same(t, "told", told, []string{"fetch: the person or a search engine named the address (own, private)",
		"read:  (person, public)"})
}

func TestYesLetsExactlyThatCallThrough(t *testing.T) {
	b := set(t, runTools)
	b.Ledger.Labels = agent.LabelledAs(agent.Stranger, true)
	b.Said.Yes = []agent.Waiting{{Tool: "fetch", Arguments: `{"url":"https://x.example/1"}`}}
	same(t, "it", b.decided(call{tool: "fetch", args: `{"url":"https://x.example/1"}`}).Rule, agent.RuleAllowed)
	same(t, "another", b.decided(call{tool: "fetch", args: `{"url":"https://x.example/2"}`}).Rule, agent.Rule(""))
	same(t, "another tool", b.decided(call{tool: "write", args: `{"url":"https://x.example/1"}`}).Rule, agent.Rule(""))
}
