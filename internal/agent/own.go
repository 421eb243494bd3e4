package agent

import (
	"io/fs"
	"slices"
	"strings"
	"sync"

	"sibyl/internal/model"
	"sibyl/internal/signal"
	"sibyl/internal/text"
	"sibyl/internal/text/origin"
	"sibyl/prompts"
)

// OriginOf reads a request of a conversation by whose words it has, so that a reply can be told from them. Of what a
// model has said before, only its own words count as an answer.
func OriginOf(asked Request) *origin.Request {
	sent := origin.Sent{Ours: []string{withoutOpening(asked.System), asked.Recovery, cutHere, cutByTool},
		Mark: Control("")}
	for _, t := range asked.Request.Tools {
		sent.Tools = append(sent.Tools, origin.Tool{Name: t.Name, Text: t.Description + "\n" + string(t.Schema)})
	}
	var theirs, said []string
	for _, m := range asked.Messages {
		switch {
		case m.Role == model.Assistant:
			said = append(said, m.Text)
		case m.Role == model.ToolRole && m.IsError:
			sent.Told = append(sent.Told, m.Text)
		case m.Role == model.ToolRole:
			sent.Results = append(sent.Results, strings.TrimSuffix(strings.TrimSuffix(m.Text, cutHere), cutByTool))
		default:
			note, words := SplitNote(m.Text)
			if !slices.Contains(sent.Ours, note) {
				sent.Ours = append(sent.Ours, note)
			}
			told, rest := splitAtMarks(words, asked.Recovery)
			sent.Told, theirs = append(sent.Told, told...), append(theirs, rest)
		}
	}
	before := sent // that an earlier answer followed
	sent.Theirs = sync.OnceValue(func() []string {
		all := slices.Concat(asked.Prompt.Facts, notBuiltIn(asked), theirs, sent.Results)
		before.Theirs = func() []string { return all }
		r := origin.Of(before)
		for _, one := range said {
			clean, _ := signal.Extract(one)
			own, _ := r.Own(clean)
			all = append(all, own)
		}
		return all
	})
	return origin.Of(sent)
}

// builtIn are the built-in prompts.
var builtIn = sync.OnceValue(func() string {
	b := &strings.Builder{}
	err := fs.WalkDir(prompts.FS, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := prompts.FS.ReadFile(name)
		b.Write(content)
		return err
	})
	if err != nil {
		panic(err) // the files are a part of the program
	}
	return b.String()
})

// notBuiltIn gives the sentences of a system prompt that the person has written into it, or that have facts of this
// run. What describes a tool is none of these.
func notBuiltIn(asked Request) (all []string) {
	for line := range strings.Lines(asked.System) {
		for _, s := range text.Sentences(line) {
			said := line[s.From:s.To]
			describes := func(t model.Tool) bool {
				return strings.Contains(said, t.Name) || strings.Contains(t.Description, said)
			}
			if !strings.Contains(builtIn(), said) && !slices.ContainsFunc(asked.Request.Tools, describes) {
				all = append(all, said)
			}
		}
	}
	return all
}

// withoutOpening is a prompt without its first sentence behind the heading: it says who answers, and whoever is asked
// that says the same.
func withoutOpening(system string) string {
	rest := system
	for strings.HasPrefix(rest, "#") {
		_, rest, _ = strings.Cut(rest, "\n")
		rest = strings.TrimLeft(rest, "\n")
	}
	rest = strings.TrimLeft(rest, " \t\r\n")
	line, _, _ := strings.Cut(rest, "\n")
	if first := text.Sentences(line); len(first) > 0 {
		rest = rest[first[0].To:]
	}
	return rest
}

// OriginOfTexts reads a request whose texts are known by whose words they are, as assistant.Prompt gives them.
func OriginOfTexts(ours, told, theirs []string) *origin.Request {
	if len(ours) > 0 {
		ours = append([]string{withoutOpening(ours[0])}, ours[1:]...)
	}
	return origin.Of(origin.Sent{Ours: ours, Told: told, Theirs: func() []string { return theirs }})
}

// splitAtMarks separates the controller's lines in a message of the user's role from the rest: what follows such a line
// is what it speaks of, such as material, unless it is a part of the recovery hint.
func splitAtMarks(message, recovery string) (told []string, theirs string) {
	b := &strings.Builder{}
	for paragraph := range strings.SplitSeq(message, "\n\n") {
		switch line, rest, _ := strings.Cut(paragraph, "\n"); {
		case IsControl(paragraph):
			told = append(told, line)
			b.WriteString(rest + "\n\n")
		case recovery == "" || !strings.Contains(recovery, paragraph):
			b.WriteString(paragraph + "\n\n")
		}
	}
	return told, b.String()
}
