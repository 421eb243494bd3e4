package service

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"sibyl/internal/files"
	"sibyl/internal/journal"
	"sibyl/internal/render"
	"sibyl/internal/service/assistant"
)

// Source is a place that a run read or cited, compared with its file at the time of the explanation. Its texts are
// redacted and cleaned (render.Clean).
type Source struct {
	Number int         `json:"number,omitempty" doc:"By which citations of the answer name it. Left out: none does."`
	Cite   string      `json:"cite" doc:"As answers name it."`
	Read   bool        `json:"read"`
	Cited  bool        `json:"cited"`
	Handed bool        `json:"handed,omitempty" doc:"It was attached to the question."`
	State  SourceState `json:"state" enum:"read,unchanged,changed,gone,unread" doc:"What became of it since."`
	Lines  []Line      `json:"lines" doc:"Those of the place and some around it: of its file while that is as it was read, else as the run kept them."`
}

// Line is one line of a place.
type Line struct {
	Number int    `json:"number" doc:"From 1; 0: it has none, as on a page of a document."`
	Text   string `json:"text"`
	Marked bool   `json:"marked" doc:"It belongs to the place, and does not only stand around it."`
}

// SourceState says what became of a place since it was read.
type SourceState string

// The states of sources.
const (
	SourceKnown   SourceState = "read"      // nothing more is known: it is no file, or its hash was not recorded
	SourceSame    SourceState = "unchanged" // the file is the same as when it was read
	SourceChanged SourceState = "changed"   // the file has changed
	SourceGone    SourceState = "gone"      // the file can't be read
	SourceUnread  SourceState = "unread"    // it is cited, but was not read in the run
)

const (
	linesBeside = 3        // lines shown before and after those of a place
	mostShown   = 120      // lines shown of one place
	mostRead    = 64 << 20 // bytes of a file that is read to show a place
)

// checkSource compares a place with its file now. If the file has changed or is gone, or there is none, the lines are
// those that were read, if passages has them.
func (s *Service) checkSource(p assistant.Place, passages []assistant.Passage) Source {
	show := func(text string) string { return render.Clean(s.config.Redact(text)) }
	out := Source{Number: p.Number, Cite: show(p.Cite), Read: p.Read, Cited: p.Cited, Handed: p.Handed,
		State: SourceKnown}
	switch content, err := readPlaceFile(p); {
	case !p.Read:
		out.State = SourceUnread
	case p.File == "":
	case err != nil:
		out.State = SourceGone
	case p.Hash != "" && files.Hash(content) != p.Hash:
		out.State = SourceChanged
	default:
		if p.Hash != "" {
			out.State = SourceSame
		}
		out.Lines = linesAround(strings.Split(strings.TrimSuffix(show(string(content)), "\n"), "\n"), 1, p.Start, p.End)
	}
	at := slices.IndexFunc(passages, func(one assistant.Passage) bool { return one.Holds(p.Cite, p.Start) })
	if !p.Read || len(out.Lines) > 0 || at < 0 {
		return out
	}
	read := strings.Split(show(strings.Join(passages[at].Lines, "\n")), "\n")
	if from := passages[at].From; from > 0 && p.Start > 0 {
		out.Lines = linesAround(read, from, p.Start, p.End)
		return out
	}
	for _, text := range read[:min(len(read), mostShown)] {
		out.Lines = append(out.Lines, Line{Text: strings.TrimSuffix(text, "\r")})
	}
	return out
}

func readPlaceFile(p assistant.Place) ([]byte, error) {
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

// linesAround gives the lines from start to end and some around them; first is the number of lines[0].
func linesAround(lines []string, first, start, end int) (shown []Line) {
	if start < 1 {
		return nil
	}
	end = max(start, end)
	for n := max(first, start-linesBeside); n <= min(first+len(lines)-1, end+linesBeside, start+mostShown); n++ {
		shown = append(shown, Line{n, strings.TrimSuffix(lines[n-first], "\r"), start <= n && n <= end})
	}
	return shown
}

// Passages gives the texts that a run opened, redacted, in the order of its receipts; nil if its assistant has none.
func (s *Service) Passages(ctx context.Context, owner journal.Owner, id string) ([]assistant.Passage, error) {
	row, a, err := s.runAndAssistant(ctx, owner, id)
	if err != nil {
		return nil, err
	}
	recs, err := s.config.Store.Records(ctx, owner, id, 0)
	if err != nil {
		return nil, err
	}
	return s.readPassages(ctx, a, row, recs)
}

func (s *Service) readPassages(
	ctx context.Context, a *assistant.Assistant, row journal.Run, recs []journal.Record,
) ([]assistant.Passage, error) {
	if a.Passages == nil {
		return nil, nil
	}
	v, err := a.Recorded(s.config.Store, row, recs)
	if err != nil {
		return nil, err
	}
	return a.Passages(ctx, v)
}
