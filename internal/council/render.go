package council

import (
	"fmt"
	"slices"
	"strings"

	"sibyl/internal/text/markdown"
)

// Markdown is the outcome for people.
func (o *Outcome) Markdown() string {
	b := &strings.Builder{}
	if o.Answer != nil {
		b.WriteString(o.Answer.Text + "\n")
	}
	for _, a := range o.Answers {
		fmt.Fprintf(b, "## %s\n\n%s\n\n", a.Oracle.Name, below(strings.TrimSpace(a.Text)))
	}
	b.WriteString(o.Conclusions())
	for _, r := range o.Recordings {
		if r.File != "" {
			fmt.Fprintf(b, "recording %d: %d words\n", r.Sequence, r.Words)
		}
	}
	switch {
	case o.Failure != nil: // the failure is told by itself
	case o.Kind == KindTranscription && len(o.Recordings)+len(o.Failed) == 0:
		b.WriteString("there are no recordings to transcribe\n")
	case o.Kind == KindNaming:
		b.WriteString(Named{o.Name}.String() + "\n")
	}
	return b.String()
}

// below makes headings of a text such that stand below those that oracles and entries have, and ends its code block, so that nothing in it reads as
// the heading of another's words and none of those is hidden.
func below(text string) string {
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n")
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

// inLine is a text in one line.
func inLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Conclusions are what was made of the answers of a sitting.
func (o *Outcome) Conclusions() string {
	b := &strings.Builder{}
	if o.Comparison != nil {
		b.WriteString(strings.TrimSpace(o.Comparison.Markdown(o.Language)) + "\n\n")
	}
	o.ranks(b)
	if o.Chair != nil {
		fmt.Fprintf(b, "## %s (%s)\n\n%s\n\n", o.Chair.Oracle.Name, o.word("chair"), o.Chair.Text)
		b.WriteString(o.doubted())
	}
	return b.String()
}

// ranks writes the table of ranks, and what the reviewers criticise.
func (o *Outcome) ranks(b *strings.Builder) {
	if len(o.Ranks) == 0 {
		return
	}
	var reviewers []string
	for _, a := range o.Answers {
		if o.Reviews[a.Oracle.Name] != nil {
			reviewers = append(reviewers, a.Oracle.Name)
		}
	}
	fmt.Fprintf(b, "## %s\n\n| %s | %s | %s |\n|%s\n", o.word("ranks"), o.word("oracle"), o.word("mean"), strings.Join(reviewers, " | "), strings.Repeat("---|", 2+len(reviewers)))
	for _, r := range o.Ranks {
		fmt.Fprintf(b, "| %s | %.1f |", r.Oracle, r.Mean)
		for _, who := range reviewers {
			if rank, gave := r.By[who]; gave {
				fmt.Fprintf(b, " %d |", rank)
			} else {
				b.WriteString(" – |")
			}
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(b, "\n")
	for _, who := range reviewers {
		all := slices.Clone(o.Reviews[who])
		slices.SortStableFunc(all, func(a, b Review) int { return a.Rank - b.Rank })
		for _, r := range all {
			fmt.Fprintf(b, "- %s %s %s: %s %s\n", who, o.word("on"), r.Oracle, inLine(r.Strength), inLine(r.Criticism))
		}
	}
	b.WriteString("\n")
}

// word is one of the few that are rendered in the session's language.
func (o *Outcome) word(what string) string {
	words := map[string][3]string{ // English, Portuguese, German
		"chair":   {"chair", "presidência", "Vorsitz"},
		"doubted": {"no answer says this, though the chair named one", "nenhuma resposta diz isto, embora a presidência cite uma", "keine Antwort sagt das, obwohl der Vorsitz eine nennt"},
		"ranks":   {"How they rank each other", "Como se avaliam", "Wie sie einander einordnen"},
		"oracle":  {"oracle", "oráculo", "Orakel"},
		"mean":    {"mean rank", "posição média", "mittlerer Rang"},
		"on":      {"on", "sobre", "über"},
	}[what]
	return words[map[string]int{"pt": 1, "de": 2}[o.Language]]
}
