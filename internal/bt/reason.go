package bt

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// Reason says why something was decided or not done: a code, a colon, and an English sentence with names in braces for
// its values, as in "call.too_many: a turn may call {most} tools at most". The HTTP API describes all reasons, so that
// a client can show them in other languages.
type Reason string

// Why says why something was decided or not done. Words that are not a Reason, such as those of a model, have no code.
// Events and results embed it.
type Why struct {
	Text string `json:"why,omitempty" doc:"In English."`
	Coded
}

// Coded is the Reason of a text, for programs.
type Coded struct {
	Code   string         `json:"why_code,omitempty" doc:"Names the sentence that says why. Left out: it is nobody's to word."`
	Values map[string]Why `json:"why_values,omitempty" doc:"What stands in the sentence, by name. A value may be such a sentence."`
}

// OfControl says whether the sentence is about how a run is controlled. Explanations tell it; whoever waits for the run
// is spared it.
func (c Coded) OfControl() bool { return strings.HasPrefix(c.Code, "control.") }

// Narrated is a Typed that is also a line in the story of its run, for people who do not know the tree.
type Narrated interface {
	Typed
	// Story is that line; if its text is empty, there is none.
	Story() Why
}

// TwoSentences joins two sentences.
const TwoSentences Reason = "why.both: {first} {second}"

// Both joins two sentences, or returns the one that is not empty. The first gets a full stop if it has none.
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

// Because is a Why with words that are not a Reason.
func Because(text string) Why { return Why{Text: text} }

// Code is the code of the reason.
func (r Reason) Code() string {
	code, _, _ := strings.Cut(string(r), ": ")
	return code
}

// Template is the sentence with names in braces for its values.
func (r Reason) Template() string {
	_, template, _ := strings.Cut(string(r), ": ")
	return template
}

var placeholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{\w+\}`) })

// With fills the values in, in the order of the names. A value may be a Why; a float has two decimals.
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
