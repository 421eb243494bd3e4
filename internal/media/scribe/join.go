package scribe

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"sibyl/internal/model"
)

// paragraph is how long a pause is after which another paragraph begins, in seconds.
const paragraph = 3.0

// draft is what has been written down of a file so far.
type draft struct {
	text     strings.Builder
	language string
	end      float64 // of the parts so far
	spoken   float64 // when somebody spoke last, as far as it is known
	units    []unit
	quiet    []Flag // parts that were not sent
	times    []Time
}

// silence is a part in which nobody speaks.
func (d *draft) silence(p piece) {
	d.end = p.start + p.seconds
	d.quiet = append(d.quiet, Flag{Kind: Silence, Start: p.start, End: d.end})
}

// add is what a part says.
func (d *draft) add(p piece, said model.Transcript) {
	d.end = p.start + max(p.seconds, said.Seconds)
	if d.language == "" {
		d.language = code(said.Language)
	}
	text, times := laidOut(said)
	if text == "" {
		return
	}
	begins, spoken := p.start, d.end
	if n := len(said.Segments); n > 0 {
		begins += said.Segments[0].Start
		spoken = p.start + said.Segments[n-1].End
	}
	if d.text.Len() > 0 {
		d.text.WriteString(between(" ", begins-d.spoken))
	}
	for _, t := range times {
		d.times = append(d.times, Time{d.text.Len() + t.At, p.start + t.Seconds})
	}
	d.text.WriteString(text)
	d.spoken = spoken
	d.units = append(d.units, unitsOf(said, text, p.start)...)
}

// between is what stands between two texts with white space and a pause between them.
func between(space string, pause float64) string {
	switch {
	case pause >= paragraph, strings.Count(space, "\n") > 1:
		return "\n\n"
	case space == "":
		return ""
	}
	return " "
}

// laidOut is the text of a transcript: its lines joined, with a paragraph at an empty line and at a long pause between
// segments; and when each segment is said, if it is made of them.
func laidOut(said model.Transcript) (string, []Time) {
	var out strings.Builder
	var times []Time
	rest, last := strings.TrimSpace(said.Text), 0.0
	for _, s := range said.Segments {
		part := strings.TrimSpace(s.Text)
		space := rest[:len(rest)-len(strings.TrimLeftFunc(rest, unicode.IsSpace))]
		after, found := strings.CutPrefix(rest[len(space):], part)
		switch {
		case !found:
			return flowing(said.Text), nil
		case part != "":
			if out.Len() > 0 {
				out.WriteString(between(space, s.Start-last))
			}
			times = append(times, Time{out.Len(), s.Start})
			out.WriteString(flowing(part))
			rest = after
		}
		last = s.End
	}
	if end := flowing(rest); end != "" && out.Len() > 0 {
		out.WriteString(between(rest[:len(rest)-len(strings.TrimLeftFunc(rest, unicode.IsSpace))], 0))
	}
	out.WriteString(flowing(rest))
	return out.String(), times
}

// flowing is a text whose lines are joined, but for an empty one between paragraphs.
func flowing(text string) string {
	var paragraphs []string
	open := false
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(line), " ")
		switch {
		case line == "":
			open = false
		case open:
			paragraphs[len(paragraphs)-1] += " " + line
		default:
			paragraphs, open = append(paragraphs, line), true
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

// flags are those of the parts that were not sent, and of what is doubtful in the others, by time.
func (d *draft) flags() []Flag {
	all := append(slices.Clone(d.quiet), doubts(d.units)...)
	slices.SortStableFunc(all, func(a, b Flag) int { return cmp.Compare(a.Start, b.Start) })
	return all
}
