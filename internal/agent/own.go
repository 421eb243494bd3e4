package agent

import (
	"strings"

	"sibyl/internal/model"
	"sibyl/internal/signal"
	"sibyl/internal/text/origin"
)

// OriginOf indexes a request of a conversation by whose words it has, so that a reply can be told from them. facts are
// what the system prompt says of this run and its person: a model may say it again.
//
// Of what a model has said before, only its own words count as an answer.
func OriginOf(req model.Request, facts ...string) *origin.Request {
	sent := origin.Sent{Ours: []string{withoutOpening(req.System)}, Theirs: facts, Mark: Control("")}
	for _, t := range req.Tools {
		sent.Tools = append(sent.Tools, origin.Tool{Name: t.Name, Text: t.Description + "\n" + string(t.Schema)})
	}
	var said []string
	for _, m := range req.Messages {
		switch {
		case m.Role == model.Assistant:
			text, _ := signal.Extract(m.Text)
			said = append(said, text)
		case m.Role == model.ToolRole && m.IsError, m.Role == model.User && IsControl(m.Text):
			sent.Told = append(sent.Told, m.Text)
		case m.Role == model.ToolRole:
			text := strings.TrimSuffix(strings.TrimSuffix(m.Text, cutHere), cutByTool)
			sent.Results = append(sent.Results, text)
			sent.Theirs = append(sent.Theirs, text)
		default:
			ours, theirs := splitAtMarks(m.Text)
			sent.Ours, sent.Theirs = append(sent.Ours, ours...), append(sent.Theirs, theirs...)
		}
	}
	sent.Ours = append(sent.Ours, cutHere, cutByTool)
	r := origin.Of(sent)
	for _, text := range said {
		own, _ := r.Own(text)
		r.AddTheirs(own)
	}
	return r
}

// withoutOpening is a system prompt without its first paragraph behind the heading: it says who answers, and whoever is
// asked that says the same.
func withoutOpening(system string) string {
	rest := system
	for strings.HasPrefix(rest, "#") {
		_, rest, _ = strings.Cut(rest, "\n")
		rest = strings.TrimLeft(rest, "\n")
	}
	_, rest, _ = strings.Cut(rest, "\n\n")
	return rest
}

// splitAtMarks separates the paragraphs of the controller in a message of the person from the rest.
func splitAtMarks(text string) (ours, theirs []string) {
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		if IsControl(paragraph) {
			ours = append(ours, paragraph)
		} else {
			theirs = append(theirs, paragraph)
		}
	}
	return ours, []string{strings.Join(theirs, "\n\n")}
}
