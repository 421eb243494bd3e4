package behaviour_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"slices"
	"strings"

	"sibyl/internal/model/modeltest"
)

// listen reads a request of any wire.
func listen(lines []line, tools []json.RawMessage, body string) (h heard) {
	asked := false
	for _, l := range lines {
		if l.role == "system" || l.role == "developer" {
			continue
		}
		h.all += l.text + "\n"
		switch l.role {
		case "assistant":
			h.replies++
		case "tool":
			h.results++
		case "user":
			if asked {
				h.told = append(h.told, l.text)
			}
			asked = true
		}
	}
	var choice struct {
		ToolChoice json.RawMessage `json:"tool_choice"`
	}
	if json.Unmarshal([]byte(body), &choice) == nil && strings.Contains(string(choice.ToolChoice), "none") {
		return h
	}
	for _, raw := range tools {
		var t struct {
			Name     string
			Function struct{ Name string }
		}
		if json.Unmarshal(raw, &t) == nil {
			h.offered = append(h.offered, cmp.Or(t.Name, t.Function.Name))
		}
	}
	return h
}

// line is something said: by the user, the assistant, or a tool.
type line struct{ role, text string }

// overTexts plays over the wires whose messages are texts.
func (s *stage) overTexts(r modeltest.Request) modeltest.Answer {
	var lines []line
	for _, m := range r.Messages {
		lines = append(lines, line{m.Role, m.Content})
	}
	return s.perform(r.Model, listen(lines, r.Tools, r.Body))
}

// overAnthropic takes the blocks of a message apart: results of tools and words may stand in one.
func (s *stage) overAnthropic(r modeltest.Request) modeltest.Answer {
	var lines []line
	for _, m := range r.Messages {
		said := line{role: m.Role}
		var blocks []struct {
			Type, Text string
			Content    json.RawMessage
		}
		_ = json.Unmarshal([]byte(m.Content), &blocks) // none in another form
		for _, block := range blocks {
			if block.Type == "tool_result" {
				lines = append(lines, line{"tool", string(block.Content)})
			}
			said.text += block.Text
		}
		if said.role == "assistant" || said.text != "" {
			lines = append(lines, said)
		}
	}
	return s.perform(r.Model, listen(lines, r.Tools, r.Body))
}

// writtenCalls are of models whose calls reach us as text.
func writtenCalls() (all []behaviour) {
	const name, arguments = "code_read", `{"path":"auth/middleware.go"}`
	hermes := element("tool_"+"call", "\n"+`{"name":"`+name+`","arguments":`+arguments+`}`+"\n")
	object := `{"name":"` + name + `","parameters":` + arguments + `}`
	for form, text := range map[string]string{
		"Hermes":             hermes,
		"Hermes after prose": "I am opening the middleware.\n\n" + hermes,
		"a JSON fence":       fence("json", `{"name":"`+name+`","arguments":`+arguments+`}`),
		"Llama":              object,
		"Mistral":            `[TOOL_` + `CALLS][{"name":"` + name + `","arguments":` + arguments + `}]`,
		"Qwen's coder": element("tool_"+"call", "\n<function="+name+">\n<parameter=path>\nauth/middleware.go\n"+
			closing("parameter")+"\n"+closing("function")+"\n"),
	} {
		all = append(all, behaviour{name: "writes a call as text, as " + form, ask: auth,
			plays: plays(says(text), says(jwt)), plain: 1, ours: exactly(2), stop: "satisfied",
			holds: []string{jwt}, lacks: []string{name}, ran: []string{name}, wires: form == "Hermes"})
	}
	slices.SortFunc(all, func(a, b behaviour) int {
		return slices.Compare([]byte(a.name), []byte(b.name))
	})
	write := element("tool_"+"call", `{"name":"vault_write","arguments":`+writes("decision.md").calls[0].Arguments+`}`)
	return append(all,
		behaviour{name: "writes a call as text beside a signal", ask: auth,
			plays: plays(turn(says(hermes), goesOn("read it")), turn(says(jwt), done())), plain: 1,
			ours: exactly(2), stop: "satisfied", holds: []string{jwt}, ran: []string{name}},
		behaviour{name: "writes a call as plain JSON beside a signal, as a template of Ollama leaves it", ask: auth,
			plays: plays(turn(says(object), goesOn("read it")), turn(says(jwt), done())),
			plain: 1, ours: exactly(2), stop: "satisfied", holds: []string{jwt}, ran: []string{name}, wires: true},
		behaviour{name: "writes as text the call of a tool that writes", ask: save,
			plays: plays(says("I am saving it.\n\n" + write)), plain: 1, ours: exactly(2), stop: "partial",
			warns: []string{unwritten}},
		behaviour{name: "shows a call in its answer", ask: auth, plays: plays(reads(middleware),
			says(jwt+" A call looks like this:\n\n"+fence("json", object)+"\n\nThat is all.")), plain: 2,
			ours: exactly(2), stop: "satisfied", holds: []string{jwt, "That is all."}, lacks: []string{object}, ran: []string{name}})
}

// tools are of models that call tools in a way of their own.
func tools() []behaviour {
	line := func(n int) reply {
		return calls("code_read", fmt.Sprintf(`{"path":"limits.txt","start":%d,"end":%d}`, n, n))
	}
	const limits = "There is a limit in each line (`limits.txt:1`)."
	var many []reply
	for n := range 25 {
		many = append(many, line(n+1))
	}
	bad := calls("code_read", `{"file":"auth/middleware.go"}`)
	capability := func(name, asks string) behaviour {
		return behaviour{name: "asks for " + name, ask: auth, plain: 1, ours: exactly(4), stop: "satisfied",
			holds: []string{decided}, ran: []string{"vault_search", "vault_read"},
			plays: plays(wants(asks), searchesNotes("cache"), readsNote("caching.md"), turn(says(decided), done()))}
	}
	return []behaviour{
		{name: "says that it is done beside a call, with nothing read", ask: auth, plain: 2, ours: exactly(2),
			stop: "satisfied", holds: []string{jwt}, lacks: []string{"Let me read"},
			plays: plays(turn(says("Let me read the middleware."), reads(middleware), done()), turn(says(jwt), done())),
			ran:   []string{"code_read"}, wires: true},
		{name: "says that it is done beside a call, after reading", ask: auth, plain: 3, ours: exactly(2),
			stop: "satisfied", holds: []string{jwt},
			plays: plays(reads(middleware), turn(says(jwt), reads(token), done()), says(jwt)),
			ran:   []string{"code_read"}},
		{name: "calls 25 times without a signal, then answers", ask: auth, plays: plays(append(many, says(limits))...),
			plain: 26, ours: exactly(26), stop: "satisfied",
			holds: []string{limits}, ran: slices.Repeat([]string{"code_read"}, 25), consults: 1},
		{name: "calls with wrong arguments, then with right ones, and answers", ask: auth,
			plays: plays(bad, reads(middleware), says(jwt)), plain: 3, ours: exactly(3),
			stop: "satisfied", holds: []string{jwt}, ran: []string{"code_read!", "code_read"}},
		{name: "reads, calls with wrong arguments, and answers", ask: auth, plays: plays(reads(middleware), bad,
			says(jwt)), plain: 3, ours: exactly(3), stop: "satisfied",
			holds: []string{jwt}, ran: []string{"code_read", "code_read!"}},
		{name: "calls with wrong arguments, and answers without another try", looked: true, last: true, ask: auth, plays: plays(bad, says(guess)),
			plain: 2, ours: exactly(3), stop: "satisfied",
			holds: []string{guess}, basis: other, ran: []string{"code_read!"}},
		{name: "calls a tool that is not there, then reads and answers", ask: auth,
			plays: plays(calls("open_file", `{"path":"auth/middleware.go"}`), reads(middleware), says(jwt)), plain: 3,
			ours: exactly(3), stop: "satisfied", holds: []string{jwt}, ran: []string{"code_read"}},
		capability("a search of the notes, and reads what it finds", "vault search"),
		capability("its notes in other words", "looking things up in my notes"),
		capability("documents in other words", "read access to the team's documentation"),
		{name: "asks for what does not exist, then reads and answers", ask: auth, plays: plays(wants("sending e-mail"),
			reads(middleware), turn(says(jwt), done())), plain: 1, ours: exactly(3),
			stop: "satisfied", holds: []string{jwt}, warns: []string{"sending e-mail"}, ran: []string{"code_read"}},
	}
}

// fence puts a text into a fenced block of a language.
func fence(language, text string) string { return "```" + language + "\n" + text + "\n```" }

// spellings are of models that write the signal in another form, and of those that think aloud.
func spellings() (all []behaviour) {
	right := sufficient("0.9")
	const report = `{"type":"context_sufficient","sources_found":1,"confidence":0.9}`
	wrapped := `{"sig` + `nal":` + report + `}`
	spelled := func(name, text string) {
		all = append(all, behaviour{name: "reads, answers, and writes the signal " + name, ask: auth,
			plays: plays(reads(middleware), says(jwt+"\n\n"+text)), plain: 2,
			ours: exactly(2), stop: "satisfied", holds: []string{jwt}, never: []string{"onfidence", "ufficient", "```",
				"Sig" + "nal", "SIG" + "NAL"}, ran: []string{"code_read"},
			signal: "context_sufficient"})
	}
	spelled("as it is asked for", right)
	spelled("as JSON", report)
	spelled("as JSON below a name", wrapped)
	spelled("as JSON in a fence", fence("json", report))
	spelled("in a fence", fence("xml", right))
	spelled("in a fence without a language", fence("", right))
	spelled("in backticks", "`"+strings.ReplaceAll(right, "\n", "")+"`")
	spelled("in capitals", strings.Replace(capitals(right), "type=", "TYPE=", 1))
	spelled("unquoted", strings.ReplaceAll(right, `"`, ""))
	spelled("escaped", html.EscapeString(right))
	spelled("below “Signal:”", "Signal:\n"+right)
	spelled("below a bold “Signal:”", "**Signal:**\n\n"+right)
	spelled("with blanks in its tags", strings.NewReplacer("<", "< ", "< /", "</ ", ">", " >").Replace(right))
	spelled("with a decimal comma", strings.Replace(right, "0.9", "0,9", 1))
	all[1].wires = true

	thought := func(name string, first, then reply) {
		all = append(all, behaviour{name: "thinks aloud, " + name, ask: auth, plays: plays(first, then), plain: 2,
			ours: exactly(2), stop: "satisfied", holds: []string{jwt},
			never: []string{"hmm"}, ran: []string{"code_read"}})
	}
	hmm := thinks("hmm, where do I begin?\nIn the middleware.")
	thought("reads, thinks, answers", turn(hmm, reads(middleware)), turn(hmm, says(jwt)))
	thought("and answers with a signal", reads(middleware), turn(hmm, says(jwt), done()))
	thought("and writes need_turn while it thinks", reads(middleware),
		turn(thinks("hmm, as they want it: "+goesOn("look").text), says(jwt)))
	thought("writes need_turn while it thinks, and has enough", reads(middleware),
		turn(thinks("hmm, as they want it: "+goesOn("look").text), says(jwt), done()))
	thought("in a block whose beginning is not sent", reads(middleware), says("hmm, that is Verify.\n"+closing("think")+
		"\n\n"+jwt))
	all[len(all)-5].wires = true
	return all
}

// closing is the end of an element.
func closing(name string) string { return "</" + name + ">" }

// capitals has the names of tags in capitals.
func capitals(text string) string {
	b := &strings.Builder{}
	inTag := false
	for _, r := range text {
		switch r {
		case '<':
			inTag = true
		case '>', ' ':
			inTag = false
		}
		if inTag {
			b.WriteString(strings.ToUpper(string(r)))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
