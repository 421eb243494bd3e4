package scribe

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"sibyl/internal/model"
	"sibyl/internal/text"
)

// paragraphPause is the least pause after which a paragraph begins, in seconds.
const paragraphPause = 3.0

// draft is the transcript of a file so far.
type draft struct {
	text       strings.Builder
	language   string
	other      bool    // that is a language that nobody expects
	end        float64 // of the parts so far
	lastSpoken float64 // when somebody spoke last, if known
	units      []unit
	silences   []Flag // parts that were not sent
	times      []Time
}

// addSilence adds a part in which nobody speaks.
func (d *draft) addSilence(p piece) {
	d.end = p.start + p.seconds
	d.silences = append(d.silences, Flag{Kind: Silence, Start: p.start, End: d.end})
}

// addPart adds the transcript of a part.
func (d *draft) addPart(p piece, transcript model.Transcript) {
	d.end = p.start + max(p.seconds, transcript.Seconds)
	if d.language == "" {
		d.language = languageCode(transcript.Language)
	}
	text, times := layOut(transcript)
	if text == "" {
		return
	}
	begins, spoken := p.start, d.end
	if n := len(transcript.Segments); n > 0 {
		begins += transcript.Segments[0].Start
		spoken = p.start + transcript.Segments[n-1].End
	}
	if d.text.Len() > 0 {
		d.text.WriteString(separator(" ", begins-d.lastSpoken))
	}
	for _, t := range times {
		d.times = append(d.times, Time{d.text.Len() + t.At, p.start + t.Seconds})
	}
	d.text.WriteString(text)
	d.lastSpoken = spoken
	d.units = append(d.units, splitUnits(transcript, text, p.start)...)
}

// separator returns what to write between two texts that are separated by this white space and pause.
func separator(space string, pause float64) string {
	switch {
	case pause >= paragraphPause, strings.Count(space, "\n") > 1:
		return "\n\n"
	case space == "":
		return ""
	}
	return " "
}

// layOut returns the text of a transcript with its lines joined, and a paragraph at each empty line or long pause
// between segments. If the text consists of its segments, it also returns the time of each.
func layOut(transcript model.Transcript) (string, []Time) {
	var out strings.Builder
	var times []Time
	rest, last := strings.TrimSpace(transcript.Text), 0.0
	for _, s := range transcript.Segments {
		part := strings.TrimSpace(s.Text)
		space := rest[:len(rest)-len(strings.TrimLeftFunc(rest, unicode.IsSpace))]
		after, found := strings.CutPrefix(rest[len(space):], part)
		switch {
		case !found:
			return joinLines(transcript.Text), nil
		case part != "":
			if out.Len() > 0 {
				out.WriteString(separator(space, s.Start-last))
			}
			times = append(times, Time{out.Len(), s.Start})
			out.WriteString(joinLines(part))
			rest = after
		}
		last = s.End
	}
	if end := joinLines(rest); end != "" && out.Len() > 0 {
		out.WriteString(separator(rest[:len(rest)-len(strings.TrimLeftFunc(rest, unicode.IsSpace))], 0))
	}
	out.WriteString(joinLines(rest))
	return out.String(), times
}

// joinLines joins the lines of each paragraph; paragraphs are separated by an empty line.
func joinLines(text string) string {
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

// flags returns the flags of parts that were not sent, and of what is doubtful in the others, by time.
func (d *draft) flags() []Flag {
	all := append(slices.Clone(d.silences), flagUnits(d.units)...)
	slices.SortStableFunc(all, func(a, b Flag) int { return cmp.Compare(a.Start, b.Start) })
	if d.other && d.text.Len() > 0 {
		all = slices.Insert(all, 0, Flag{Kind: OtherLanguage, Text: text.Brief(d.text.String(), maxFlagText), End: d.end})
	}
	return all
}
