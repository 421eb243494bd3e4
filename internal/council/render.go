package council

import (
	"encoding/json"
	"fmt"
	"strings"

	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
	"sibyl/internal/text"
	"sibyl/internal/text/markdown"
)

// Markdown formats the outcome for people, without its failure.
func (o *Outcome) Markdown() string {
	b := &strings.Builder{}
	if o.Answer != nil {
		b.WriteString(o.Answer.Text + "\n")
	}
	for _, a := range o.Answers {
		b.WriteString(a.Markdown() + "\n")
	}
	b.WriteString(o.Conclusions())
	for _, r := range o.Recordings {
		if r.File != "" {
			fmt.Fprintf(b, "recording %d: %d words\n", r.Sequence, r.Words)
		}
	}
	switch {
	case o.Failure != nil: // it is shown separately
	case o.Kind == KindTranscription && len(o.Recordings)+len(o.Failed) == 0:
		b.WriteString(o.whyNothingTranscribed())
	case o.Kind == KindNaming:
		b.WriteString(named.With(o.Name).Text + "\n")
	}
	return b.String()
}

// earlyAnswer is the answer of an oracle of a sitting, which is complete before those of the others.
func earlyAnswer(c *run.CompletionRecord) *assistant.EarlyPart {
	var r MemberReceipt
	if c.Kind != EffectMember || json.Unmarshal(c.Result, &r) != nil || r.Answer == nil {
		return nil
	}
	return &assistant.EarlyPart{Markdown: r.Answer.Markdown(), Used: r.Answer.usage()}
}

// usage gives the model and the tokens of an answer.
func (a Answer) usage() assistant.Usage {
	return assistant.Usage{Model: a.Model, Input: a.Usage.InputTokens, Cached: a.Usage.CachedTokens,
		Output: a.Usage.OutputTokens}
}

// Markdown formats an answer under a heading with its oracle's name.
func (a Answer) Markdown() string {
	return fmt.Sprintf("## %s\n\n%s\n", a.Oracle.Name, demoteHeadings(strings.TrimSpace(a.Text)))
}

// whyNothingTranscribed says why a transcription had nothing to do.
func (o *Outcome) whyNothingTranscribed() string {
	if o.Before == 0 {
		return "there are no recordings to transcribe\n"
	}
	return fmt.Sprintf("no recording is waiting; %s could not be transcribed: ‘sibyl council transcribe --again %s’ "+
		"tries again\n", text.Count(o.Before, "recording"), o.Session)
}

// demoteHeadings lowers the headings of a text below those of oracles and entries, and closes an open code block, so
// that the text can neither imitate such a heading nor hide one.
func demoteHeadings(said string) string {
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(said), "\n")
	var fence markdown.Fence
	inText := false // a line of = or - here would make the one before it a heading
	for n, line := range lines {
		plain := strings.TrimLeft(line, " ")
		level, _, isHeading := markdown.Heading(line)
		switch {
		case fence.Covers(line):
			inText = false
			continue
		case isHeading:
			lines[n] = strings.Repeat("#", min(level+2, 6)) + plain[level:]
		case inText && isUnderline(line):
			lines[n] = "\\" + plain
		}
		inText = !isHeading && strings.TrimSpace(plain) != ""
	}
	if end := fence.End(); end != "" {
		lines = append(lines, end)
	}
	return strings.Join(lines, "\n")
}

// isUnderline tells whether a line makes a heading of the text above it (CommonMark 0.31, section 4.3).
func isUnderline(line string) bool {
	plain := strings.TrimLeft(line, " ")
	marks := strings.TrimRight(plain, " \t")
	return marks != "" && len(line)-len(plain) < 4 && (strings.Trim(marks, "=") == "" || strings.Trim(marks, "-") == "")
}

// Conclusions formats the chair's summary of the answers of a sitting; "" if there is none.
func (o *Outcome) Conclusions() string {
	if o.Chair == nil {
		return ""
	}
	return fmt.Sprintf("## %s (%s)\n\n%s\n\n", o.Chair.Oracle.Name, wordsOf(o.Language).Chair, o.Chair.Text)
}
