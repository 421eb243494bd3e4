package behaviour_test

import (
	"fmt"
	"slices"
)

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
		behaviour{name: "quotes a call in its answer", ask: auth, plays: plays(reads(middleware),
			says(jwt+" A call looks like this:\n\n"+fence("json", object)+"\n\nThat is all.")), plain: 2,
			ours: exactly(2), stop: "satisfied", holds: []string{jwt, object, "That is all."}, ran: []string{name}})
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
		{name: "calls with wrong arguments, and answers without another try", ask: auth, plays: plays(bad, says(guess)),
			plain: 2, ours: exactly(3), stop: "partial",
			holds: []string{guess}, warns: []string{unread}, ran: []string{"code_read!"}},
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
