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
	timed    bool    // spoken is known
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
	text := laidOut(said)
	if text == "" {
		return
	}
	begins := p.start
	if len(said.Segments) > 0 {
		begins += said.Segments[0].Start
	}
	if d.text.Len() > 0 {
		d.text.WriteString(between(d.timed && begins-d.spoken >= paragraph))
	}
	d.times = append(d.times, timesOf(said, text, d.text.Len(), p.start)...)
	d.text.WriteString(text)
	d.spoken, d.timed = d.end, true
	if n := len(said.Segments); n > 0 {
		d.spoken = p.start + said.Segments[n-1].End
	}
	d.units = append(d.units, unitsOf(said, text, p.start)...)
}

func between(pause bool) string {
	if pause {
		return "\n\n"
	}
	return " "
}

// laidOut is the text of a transcript: its lines joined, with a paragraph at an empty line and at a long pause between segments.
func laidOut(said model.Transcript) string {
	text := strings.TrimSpace(said.Text)
	var out strings.Builder
	last := 0.0
	for i, s := range said.Segments {
		part := strings.TrimSpace(s.Text)
		gap := len(text) - len(strings.TrimLeftFunc(text, unicode.IsSpace))
		rest, found := strings.CutPrefix(text[gap:], part)
		if !found { // the segments are not what the text is made of
			return flowing(said.Text)
		}
		if i > 0 && s.Start-last >= paragraph {
			out.WriteString(between(true))
		} else {
			out.WriteString(text[:gap])
		}
		out.WriteString(part)
		text, last = rest, s.End
	}
	out.WriteString(text)
	return flowing(out.String())
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

// within is how far behind the one before a segment is looked for, in bytes: what stands between is white space.
const within = 100

// timesOf finds the segments of a transcript in its text, which is laid out, and begins at a byte and a second of a whole.
func timesOf(said model.Transcript, text string, begins int, start float64) (times []Time) {
	at := 0
	for _, s := range said.Segments {
		part := flowing(s.Text)
		found := strings.Index(text[at:min(len(text), at+len(part)+within)], part)
		if part == "" || found < 0 {
			continue
		}
		at += found
		times = append(times, Time{begins + at, start + s.Start})
		at += len(part)
	}
	return times
}

// flags are those of the parts that were not sent, and of what is doubtful in the others, by time.
func (d *draft) flags() []Flag {
	all := append(slices.Clone(d.quiet), doubts(d.units)...)
	slices.SortStableFunc(all, func(a, b Flag) int { return cmp.Compare(a.Start, b.Start) })
	return all
}
