package behaviour_test

import (
	"html"
	"strings"
)

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
