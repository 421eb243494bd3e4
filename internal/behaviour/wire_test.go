package behaviour_test

import (
	"cmp"
	"encoding/json"
	"fmt"
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
	all = append(all, behaviour{name: "writes a call as text, as Hermes", ask: auth, plays: plays(says(hermes), says(jwt)),
		plain: 1, ours: 2, stop: "satisfied", holds: []string{jwt}, lacks: []string{name}, ran: []string{name},
		wires: true})
	write := element("tool_"+"call", `{"name":"vault_write","arguments":`+writes("decision.md").calls[0].Arguments+`}`)
	return append(all,
		behaviour{name: "writes a call as plain JSON beside a signal, as a template of Ollama leaves it", ask: auth,
			plays: plays(turn(says(object), goesOn("read it")), turn(says(jwt), done())),
			plain: 1, ours: 2, stop: "satisfied", holds: []string{jwt}, ran: []string{name}, wires: true},
		behaviour{name: "writes as text the call of a tool that writes", ask: save,
			plays: plays(says("I am saving it.\n\n" + write)), plain: 1, ours: 2, stop: "partial",
			warns: []string{unwritten}})
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
	return []behaviour{
		{name: "says that it is done beside a call, with nothing read", ask: auth, plain: 2, ours: 2,
			stop: "satisfied", holds: []string{jwt}, lacks: []string{"Let me read"},
			plays: plays(turn(says("Let me read the middleware."), reads(middleware), done()), turn(says(jwt), done())),
			ran:   []string{"code_read"}, wires: true},
		{name: "calls 25 times without a signal, then answers", ask: auth, plays: plays(append(many, says(limits))...),
			plain: 26, ours: 26, stop: "satisfied",
			holds: []string{limits}, ran: slices.Repeat([]string{"code_read"}, 25), consults: 1},
		{name: "calls with wrong arguments, then with right ones, and answers", ask: auth,
			plays: plays(bad, reads(middleware), says(jwt)), plain: 3, ours: 3,
			stop: "satisfied", holds: []string{jwt}, ran: []string{"code_read!", "code_read"}},
	}
}

// fence puts a text into a fenced block of a language.
func fence(language, text string) string { return "```" + language + "\n" + text + "\n```" }

// spellings are of models that write the signal in another form, and of those that think aloud.
func spellings() (all []behaviour) {
	right := sufficient("0.9")
	const report = `{"type":"context_sufficient","sources_found":1,"confidence":0.9}`
	spelled := func(name, text string) {
		all = append(all, behaviour{name: "reads, answers, and writes the signal " + name, ask: auth,
			plays: plays(reads(middleware), says(jwt+"\n\n"+text)), plain: 2,
			ours: 2, stop: "satisfied", holds: []string{jwt}, never: []string{"onfidence", "ufficient", "```",
				"Sig" + "nal", "SIG" + "NAL"}, ran: []string{"code_read"},
			signal: "context_sufficient"})
	}
	spelled("as it is asked for", right)
	spelled("as JSON", report)
	spelled("in a fence", fence("xml", right))
	all[1].wires = true

	thought := func(name string, first, then reply) {
		all = append(all, behaviour{name: "thinks aloud, " + name, ask: auth, plays: plays(first, then), plain: 2,
			ours: 2, stop: "satisfied", holds: []string{jwt},
			never: []string{"hmm"}, ran: []string{"code_read"}})
	}
	hmm := thinks("hmm, where do I begin?\nIn the middleware.")
	thought("reads, thinks, answers", turn(hmm, reads(middleware)), turn(hmm, says(jwt)))
	thought("in a block whose beginning is not sent", reads(middleware), says("hmm, that is Verify.\n"+closing("think")+
		"\n\n"+jwt))
	all[len(all)-2].wires = true
	return all
}

// closing is the end of an element.
func closing(name string) string { return "</" + name + ">" }
