package council

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"sibyl/internal/council/persona"
	"sibyl/internal/council/prompt"
	"sibyl/internal/council/session"
	"sibyl/internal/text/markdown"
)

// Export is a session with its transcripts and answers.
type Export struct {
	Session  session.Session `json:"session"`
	Folder   string          `json:"folder,omitempty" hidden:"true"`
	Entries  []prompt.Entry  `json:"entries" doc:"In the order of time."`
	Problems []string        `json:"problems" doc:"What breaks the rules of its form."`
	Left     []string        `json:"left_out" doc:"What no context has, and why."`
}

// Export reads a session with all its texts, redacted, and checks it.
func (d *Desk) Export(ctx context.Context, id string) (x Export, err error) {
	if x.Session, err = d.Store.Get(ctx, id); err != nil {
		return x, err
	}
	said, err := d.deps.readContent(ctx, d.Store, x.Session)
	if err != nil {
		return x, err
	}
	list, err := d.deps.Oracles.List(ctx)
	known := func(id string) bool {
		return slices.ContainsFunc(list.Oracles, func(p persona.Persona) bool { return p.ID == id })
	}
	if err != nil {
		known = nil // whose answers they are can't be checked now, and all else can
	}
	problems, err := d.Check(ctx, id, known)
	if err != nil {
		return x, err
	}
	// never null in JSON
	x.Folder, x.Left, x.Problems = d.Path(id), append([]string{}, said.left...), append([]string{}, problems...)
	x.Entries = append([]prompt.Entry{}, prompt.InOrder(said.entries)...)
	return x, nil
}

// Markdown is the session for people. Nothing in it is fetched or run where it is shown.
func (x *Export) Markdown() string {
	b := &strings.Builder{}
	s := &x.Session
	fmt.Fprintf(b, "# %s\n\n%s, %s, %d said, %d answered\n",
		cmp.Or(s.Name, s.ID), s.ID, s.State, len(s.Audio), len(s.Answers))
	type part struct {
		at         time.Time
		head, body string
	}
	var parts []part
	for _, e := range x.Entries {
		parts = append(parts, part{e.At, cmp.Or(e.Oracle, strconv.Itoa(e.Sequence)), x.body(e)})
	}
	for _, e := range s.Audio {
		if e.Status != session.Success {
			parts = append(parts, part{e.ReceivedAt, strconv.Itoa(e.Sequence),
				fmt.Sprintf("*%s: %s*", e.File, cmp.Or(e.Error, "not transcribed yet"))})
		}
	}
	slices.SortStableFunc(parts, func(a, b part) int { return a.at.Compare(b.at) })
	for _, p := range parts {
		fmt.Fprintf(b, "\n## %s, %s\n\n%s\n", p.head, p.at.Local().Format(time.DateTime), p.body)
	}
	if len(x.Problems) > 0 {
		fmt.Fprintf(b, "\n## Problems\n\n- %s\n", strings.Join(x.Problems, "\n- "))
	}
	return markdown.Inert(b.String())
}

// body is what was said, or why there is nothing to show.
func (x *Export) body(e prompt.Entry) string {
	if e.Missing {
		return "*its file is missing*"
	}
	if text := strings.TrimSpace(e.Text); text != "" {
		return demoteHeadings(text)
	}
	if slices.ContainsFunc(x.Session.Audio, func(a session.AudioEntry) bool { return a.ID() == e.ID && a.Silent }) {
		return "*silence*"
	}
	return "*nothing was heard*"
}
