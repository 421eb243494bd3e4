package talk

import (
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
)

func TestFooterAndApprovalSpeakTheLanguageOfTheRun(t *testing.T) {
	var res service.Result
	res.Note(assistant.Clause{{Format: "also read: %s", Values: []any{"b.go:3"}}})
	res.Note(assistant.Clause{{Format: "searched the code"}, assistant.Counted(2, "read 1 place", "read %d places")},
		assistant.Clause{{Format: "%s", Values: []any{"2.1 s"}}})
	res.Notes = append(res.Notes, "said in English alone")
	waits := assistant.Waiting{Call: "vault_write", Target: "a.md", Why: bt.Why{Text: "text from strangers"}}
	foreign := assistant.Waiting{Call: "tracker__get", Target: "7"}
	for _, c := range []struct{ language, also, did, may, call string }{
		{"en", "also read: b.go:3", "searched the code, read 2 places; 2.1 s",
			"May I? Write to the note a.md\n    why: text from strangers", "May I? Call tracker__get 7"},
		{"de", "auch gelesen: b.go:3", "Code durchsucht, 2 Stellen gelesen; 2.1 s",
			"Darf ich das? In die Notiz schreiben: a.md\n    Grund: text from strangers",
			"Darf ich das? tracker__get aufrufen: 7"},
		{"pt", "também lido: b.go:3", "código pesquisado, 2 lugares lidos; 2.1 s",
			"Posso? Escrever na nota a.md\n    motivo: text from strangers", "Posso? Chamar tracker__get: 7"},
	} {
		assert.Equal(t, strings.Join(Notes(res, c.language), "\n"), c.also+"\n"+c.did+"\nsaid in English alone")
		assert.Equal(t, AskFor(waits, c.language), c.may)
		assert.Equal(t, AskFor(foreign, c.language), c.call)
	}
	assert.Equal(t, res.Notes[0], "also read: b.go:3")
}
