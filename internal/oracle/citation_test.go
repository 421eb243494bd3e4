package oracle_test

import (
	"testing"

	"sibyl/internal/agent"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/tool"
)

// reader is a run that has read these places, seen one hit that it did not open, and answers with text.
func reader(t *testing.T, text string) *harness {
	h := setUp(t,
		modeltest.Say(needCapability("vault read and web fetch")),
		modeltest.Say(needTurn("read")).
			AndCall("code_search", `{}`).
			AndCall("code_read", lines("auth/middleware.go", 10, 30)).
			AndCall("code_read", lines("Makefile", 1, 9)).
			AndCall("code_read", `{"path":"internal/net/transport.go"}`).
			AndCall("vault_read", lines("Meeting notes (May).md", 1, 9)).
			AndCall("vault_read", lines("Beschlüsse/Größe.md", 1, 9)).
			AndCall("web_fetch", `{"url":"https://go.example/release/"}`).
			AndCall("web_fetch", `{"url":"https://wiki.example/Go_(game)"}`),
		modeltest.Say(text+"\n"+enough()))
	h.world.on("code_search", finds(tool.Ref{Source: tool.Code, Path: "auth/session.go", Start: 5, End: 9}))
	return h
}

func TestCitationsOfWhatWasReadAreMarkedAndOthersReported(t *testing.T) {
	const (
		middleware = "auth/middleware.go:10-30"
		makefile   = "Makefile:1-9"
		transport  = "internal/net/transport.go"
		meeting    = "Meeting notes (May).md:1-9"
		size       = "Beschlüsse/Größe.md:1-9"
		release    = "https://go.example/release/"
		game       = "https://wiki.example/Go_(game)"
	)
	for name, c := range map[string]struct {
		text        string
		cited       []string
		unsupported []string
	}{
		"a line":                           {text: "It checks (`auth/middleware.go:12`).", cited: []string{middleware}},
		"the first and the last line":      {text: "auth/middleware.go:10, auth/middleware.go:30.", cited: []string{middleware}},
		"a range":                          {text: "See auth/middleware.go:12-15.", cited: []string{middleware}},
		"a range with a dash":              {text: "See auth/middleware.go:12–15.", cited: []string{middleware}},
		"a range that begins before":       {text: "See auth/middleware.go:1-12.", cited: []string{middleware}},
		"a line and a column":              {text: "See auth/middleware.go:12:4.", cited: []string{middleware}},
		"a page of a document":             {text: "See report.pdf p. 3 and e.g. p. 4, other.docx pp. 3-4.", unsupported: []string{"report.pdf p. 3", "other.docx pp. 3-4"}},
		"the end of a path":                {text: "In middleware.go:12.", cited: []string{middleware}},
		"a path from here":                 {text: "In ./auth/middleware.go:12.", cited: []string{middleware}},
		"the end of a name":                {text: "In ware.go:12.", unsupported: []string{"ware.go:12"}},
		"a line after what was read":       {text: "In auth/middleware.go:31.", unsupported: []string{"auth/middleware.go:31"}},
		"a line before what was read":      {text: "In auth/middleware.go:9.", unsupported: []string{"auth/middleware.go:9"}},
		"a range the wrong way round":      {text: "In auth/middleware.go:31-2.", unsupported: []string{"auth/middleware.go:31-2"}},
		"any line of a file that was read": {text: "In transport.go:999.", cited: []string{transport}},
		"a file without an ending":         {text: "In Makefile:3 and cmd/Makefile:3.", cited: []string{makefile}, unsupported: []string{"cmd/Makefile:3"}},
		"a hit that was not opened":        {text: "In auth/session.go:5.", unsupported: []string{"auth/session.go:5"}},
		"the same unread place twice":      {text: "In x/y.go:5 and x/y.go:5.", unsupported: []string{"x/y.go:5"}},
		"one read and one unread":          {text: "auth/middleware.go:12 against x/y.go:5", cited: []string{middleware}, unsupported: []string{"x/y.go:5"}},
		"a note with blanks in its name":   {text: "Decided in `Meeting notes (May).md:3`.", cited: []string{meeting}},
		"unread lines of such a note":      {text: "Decided in Meeting notes (May).md:30.", unsupported: []string{"Meeting notes (May).md:30"}},
		"letters that are not English":     {text: "Siehe Beschlüsse/Größe.md:4-6.", cited: []string{size}},
		"an address":                       {text: "Out since May: https://go.example/release/.", cited: []string{release}},
		"an address without its slash":     {text: "Out since May (https://go.example/release).", cited: []string{release}},
		"a part of a page":                 {text: "See https://go.example/release/#may!", cited: []string{release}},
		"an address in Markdown":           {text: "[Go](https://go.example/release/), a language", cited: []string{release}},
		"an address with brackets in it":   {text: "See [Go](https://wiki.example/Go_(game)).", cited: []string{game}},
		"an address that was not opened":   {text: "See https://go.example/release/notes.", unsupported: []string{"https://go.example/release/notes"}},
		"the port of an address":           {text: "See https://go.example:8080/a.html:3", unsupported: []string{"https://go.example:8080/a.html:3"}},
		"an hour":                          {text: "At 10:30, or 10:30-11:30."},
		"a ratio and a server":             {text: "1.5:1 on 127.0.0.1:8080 and localhost:8080, 3/4:2."},
		"a key and its value":              {text: "Set retries:3 and max_turns:30."},
		"text in a fence":                  {text: "It logs:\n```text\nx/y.go:5: https://evil.example\n```\nin auth/middleware.go:12", cited: []string{middleware}},
		"text in a longer fence":           {text: "~~~~\nx/y.go:5\n~~~\nx/y.go:6\n~~~~~\nauth/middleware.go:12", cited: []string{middleware}},
		"text in a quoted fence":           {text: "> ```\n> x/y.go:5\n> ```\nauth/middleware.go:12", cited: []string{middleware}},
		"a line that only begins like one": {text: "`` x/y.go:5 ``", unsupported: []string{"x/y.go:5"}},
		"a number no file has":             {text: "In x/y.go:99999999999999999999."},
		"nothing":                          {text: "I know it by heart."},
	} {
		t.Run(name, func(t *testing.T) {
			h := reader(t, c.text)
			a := h.ask(auth)
			same(t, "cited", cites(a), c.cited)
			same(t, "unsupported", a.Unsupported, c.unsupported)
			var read []string
			for _, s := range a.Sources {
				read = append(read, s.Cite)
			}
			same(t, "sources: all that was read, in the order of the calls, and no hit", read,
				[]string{middleware, makefile, transport, meeting, size, release, game})
		})
	}
}

func TestAddressInTheAnswerToACodeQuestionIsNoClaimToHaveReadIt(t *testing.T) {
	h := setUp(t,
		modeltest.SayAndCall(needTurn("read"), "code_read", lines("auth/middleware.go", 10, 30)),
		modeltest.Say("It follows https://rfc.example/6750 (auth/middleware.go:12). "+enough()))
	a := h.ask(auth)
	same(t, "unsupported", a.Unsupported, []string(nil))
	same(t, "cited", cites(a), []string{"auth/middleware.go:10-30"})
}

func TestHitOfTheWebThatWasNotOpenedIsUnsupported(t *testing.T) {
	h := setUp(t, modeltest.SayAndCall(needTurn("search"), "web_search", `{}`), modeltest.Say("It rains (https://weather.example/paris). "+enough()),
		modeltest.Say("It rains, as I said (https://weather.example/paris). "+enough()))
	a := h.ask(weather)
	same(t, "unsupported", a.Unsupported, []string{"https://weather.example/paris"})
	same(t, "stop reason", a.StopReason, oracle.StopPartial)
	same(t, "caveat", a.Caveat, "No source was opened for this answer: it relies on what the model knows.")
	same(t, "sources", a.Sources, []agent.Source{})
}

func TestAnswerWithOneCitationThatWasReadIsNotDoubted(t *testing.T) {
	h := reader(t, "In auth/middleware.go:12 and x/y.go:5.")
	a := h.ask(auth)
	same(t, "stop reason", a.StopReason, oracle.StopSatisfied)
	same(t, "caveat", a.Caveat, "")
	h = reader(t, "I know it by heart.")
	a = h.ask(auth)
	same(t, "stop reason without any citation", a.StopReason, oracle.StopSatisfied)
}

func TestPlaceReadTwiceIsOneSource(t *testing.T) {
	read := modeltest.SayAndCall(needTurn("read"), "code_read", lines("auth/middleware.go", 10, 30))
	h := setUp(t, read, read, modeltest.Say("It checks (`auth/middleware.go:12`). "+enough()))
	a := h.ask(auth)
	same(t, "sources", len(a.Sources), 1)
	same(t, "calls", len(a.ToolCalls), 2)
}
