package council_test

import (
	"slices"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/redact/redacttest"
)

func TestSecretsThatWereSaidAreInNoPromptAndNoExport(t *testing.T) {
	h := newHouse(t)
	all := redacttest.Vectors(t)
	for group := range slices.Chunk(all, 12) { // each entry is synced
		text := "Listen:\n"
		for _, v := range group {
			text += v.Text + "\n\nAnd then there is another thing, which is said in some words.\n\n"
		}
		h.says(text)
	}
	p := h.process("one", h.journal)
	var asked strings.Builder
	h.plays = func(req model.Request) modeltest.Turn {
		for _, m := range req.Messages {
			asked.WriteString(m.Text + "\n")
		}
		return everybody(req)
	}
	p.run(h.ask("ada", "bob"))
	x := assert.Must(p.desk().Export(t.Context(), h.id))(t)
	var found strings.Builder
	sessions, _, err := h.sessions().List(t.Context())
	assert.NoError(t, err)
	for _, s := range sessions {
		for _, text := range h.sessions().Texts(t.Context(), s) {
			found.WriteString(text + "\n")
		}
	}
	for where, text := range map[string]string{"the prompts": asked.String(), "the export": x.Markdown(),
		"what is found": found.String()} {
		assert.That(t, len(text) >= 10_000, "%s have %d bytes", where, len(text))
		for _, v := range all {
			for _, leak := range v.Leaks(text) {
				t.Errorf("%s: %q is in %s", v.Name, leak, where)
			}
		}
	}
}
