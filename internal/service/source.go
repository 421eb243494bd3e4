package service

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"sibyl/internal/files"
	"sibyl/internal/journal"
	"sibyl/internal/render"
	"sibyl/internal/service/assistant"
)

// Source is a place that a run read or cited, as it stands when the run is explained. Its texts are redacted, and clean as render.Clean has it.
type Source struct {
	Number int         `json:"number,omitempty" doc:"By which citations of the answer name it. Left out: none does."`
	Cite   string      `json:"cite" doc:"As answers name it."`
	Read   bool        `json:"read"`
	Cited  bool        `json:"cited"`
	Handed bool        `json:"handed,omitempty" doc:"It was attached to the question."`
	State  SourceState `json:"state" enum:"read,unchanged,changed,gone,unread" doc:"What became of it since."`
	Lines  []Line      `json:"lines" doc:"Those of the place and some around it, unless it has changed or is no text."`
}

// Line is one line of a place.
type Line struct {
	Number int    `json:"number"` // from 1
	Text   string `json:"text"`
	Marked bool   `json:"marked" doc:"It belongs to the place, and does not only stand around it."`
}

// SourceState is what became of a place since it was read.
type SourceState string

// The states of sources.
const (
	SourceKnown   SourceState = "read"      // nothing more is known: it is no file, or its hash was not kept
	SourceSame    SourceState = "unchanged" // the file is as it was read
	SourceChanged SourceState = "changed"   // the file is another
	SourceGone    SourceState = "gone"      // the file can't be read any more
	SourceUnread  SourceState = "unread"    // it is cited, and was not read in the run
)

const (
	around    = 3        // lines that are shown before and behind those of a place
	mostShown = 120      // lines of one place
	mostRead  = 64 << 20 // bytes of a file that is read for a place
)

// sourcesOf are the places of an answer, as they stand.
func (s *Service) sourcesOf(ctx context.Context, a *assistant.Assistant, r journal.Run, recs []journal.Record, outcome json.RawMessage) (all []Source, err error) {
	if a.Places == nil {
		return nil, nil
	}
	v, err := a.Recorded(s.config.Store, r, recs[:1]) // its beginning says enough, and any build can read it
	if err != nil {
		return nil, err
	}
	places, err := a.Places(ctx, v, outcome)
	for _, p := range places {
		all = append(all, s.checked(p))
	}
	return all, err
}

// checked looks what became of a place.
func (s *Service) checked(p assistant.Place) Source {
	show := func(text string) string { return render.Clean(s.config.Redact(text)) }
	out := Source{Number: p.Number, Cite: show(p.Cite), Read: p.Read, Cited: p.Cited, Handed: p.Handed, State: SourceKnown}
	switch content, err := placeText(p); {
	case !p.Read:
		out.State = SourceUnread
	case p.File == "":
		out.Lines = linesAround(show(p.Text), p.Start, p.End)
	case err != nil:
		out.State = SourceGone
	case p.Hash != "" && files.Hash(content) != p.Hash:
		out.State = SourceChanged
	default:
		if p.Hash != "" {
			out.State = SourceSame
		}
		out.Lines = linesAround(show(string(content)), p.Start, p.End)
	}
	return out
}

func placeText(p assistant.Place) ([]byte, error) {
	if p.File == "" || !p.Read {
		return nil, nil
	}
	info, err := os.Lstat(p.File)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > mostRead:
		return nil, fmt.Errorf("%s is no file of text", p.File)
	}
	return os.ReadFile(p.File)
}

func linesAround(content string, start, end int) (shown []Line) {
	if start < 1 || content == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(content, "\n"), "\n")
	for n := max(1, start-around); n <= min(len(lines), max(start, end)+around, start+mostShown); n++ {
		shown = append(shown, Line{n, strings.TrimSuffix(lines[n-1], "\r"), start <= n && n <= max(start, end)})
	}
	return shown
}

// Passages are the texts that a run opened, in the order of its receipts, which keep them redacted.
func (s *Service) Passages(ctx context.Context, owner journal.Owner, id string) ([]assistant.Passage, error) {
	row, a, err := s.run(ctx, owner, id)
	if err != nil || a.Passages == nil {
		return nil, err
	}
	recs, err := s.config.Store.Records(ctx, owner, id, 0)
	if err != nil {
		return nil, err
	}
	v, err := a.Recorded(s.config.Store, row, recs)
	if err != nil {
		return nil, err
	}
	return a.Passages(ctx, v)
}
