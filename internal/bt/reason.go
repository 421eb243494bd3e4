package bt

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// Reason tells people why something was decided or not done: a code, a colon, and a sentence in English with names in
// braces where its values stand, as in "call.too_many: a turn may call {most} tools at most". The HTTP API describes
// all that there are, so that who shows them can word them in other languages.
type Reason string

// Why says why something was decided or not done. Words that are no Reason, such as a model's, have no code. It is
// embedded in what tells it.
type Why struct {
	Text string `json:"why,omitempty" doc:"In English."`
	Coded
}

// Coded is a Reason for programs, beside its words.
type Coded struct {
	Code   string         `json:"why_code,omitempty" doc:"Names the sentence that says why. Left out: it is nobody's to word."`
	Values map[string]Why `json:"why_values,omitempty" doc:"What stands in the sentence, by name. A value may be such a sentence."`
}

// Narrated is a Typed that is told to people who don't know the tree, too: as a line of the story of its run.
type Narrated interface {
	Typed
	// Story is that line. Without text it is left out.
	Story() Why
}

// TwoSentences are two that stand one after the other.
const TwoSentences Reason = "why.both: {first} {second}"

// Both are two sentences, or the one that has words. The first ends as a sentence does.
func Both(first, second Why) Why {
	switch {
	case first.Text == "":
		return second
	case second.Text == "":
		return first
	case !strings.ContainsAny(first.Text[len(first.Text)-1:], ".!?"):
		first.Text += "."
	}
	return TwoSentences.With(first, second)
}

// Because is a Why of words that are no Reason.
func Because(text string) Why { return Why{Text: text} }

// Code names the reason.
func (r Reason) Code() string {
	code, _, _ := strings.Cut(string(r), ": ")
	return code
}

// Template is the sentence with names in braces where its values stand.
func (r Reason) Template() string {
	_, template, _ := strings.Cut(string(r), ": ")
	return template
}

var placeholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{\w+\}`) })

// With is the sentence with values in it, in the order of their names. A value may be a Why; a number with a fraction
// has two digits behind its point.
func (r Reason) With(values ...any) Why {
	w := Why{Coded: Coded{Code: r.Code()}}
	w.Text = placeholder().ReplaceAllStringFunc(r.Template(), func(name string) string {
		value := Because("")
		switch v := values[0].(type) {
		case Why:
			value = v
		case float64:
			value.Text = fmt.Sprintf("%.2f", v)
		default:
			value.Text = fmt.Sprint(v)
		}
		if w.Values == nil {
			w.Values = map[string]Why{}
		}
		w.Values[strings.Trim(name, "{}")] = value
		values = values[1:]
		return value.Text
	})
	return w
}
