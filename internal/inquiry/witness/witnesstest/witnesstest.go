// Package witnesstest has a witness that follows a script: it tells the truth, lies, changes its lies, evades, or knows nothing, as it was told
// to. What it says depends on the questions that it was asked before and on nothing else, so that an interview with it can be repeated.
package witnesstest

import (
	"context"
	"strings"
	"sync"

	"sibyl/internal/inquiry/witness"
	"sibyl/internal/text/search"
)

// Fact is what the witness can say of a matter.
type Fact struct {
	Aspect   string   // what it tells: "when", "who", … ; for whoever reads the script
	Keywords []string // a question is about it if it has one of these words, in any form that begins so; more of them win
	Truth    string   // what it says

	// Lies, if there are any, are said in its place: the first when it is first asked, the next when it is asked again, and so on; the last
	// is kept to. Where Confess is set, Truth follows the last lie.
	Lies    []string
	Confess bool

	// Evasions are said before anything else, one each time it is asked.
	Evasions []string
}

// Scripted is a witness of a script. Its fields may not change once it was asked.
type Scripted struct {
	Facts []Fact

	// Confronted, if set, is what it says to a question that quotes two of its answers, in the place of the facts. Without it, it says the
	// truth of the fact then, which settles the matter; with Stubborn it repeats the last thing that it said of it.
	Confronted string
	Stubborn   bool

	// Flawless makes it say the truth alone, in whole, whatever else the facts hold.
	Flawless bool

	mu    sync.Mutex
	asked []string // questions, in the order in which they came
}

// Name is "scripted:witness".
func (s *Scripted) Name() string { return "scripted:witness" }

// Asked is what it was asked, in order.
func (s *Scripted) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.asked...)
}

// Answer says what the script wants. How often it was asked of a matter is read from the earlier exchanges, so that a resumed interview goes on
// as it was.
func (s *Scripted) Answer(ctx context.Context, question, language string, earlier []witness.Exchange) (witness.Answer, error) {
	if err := ctx.Err(); err != nil {
		return witness.Answer{}, err
	}
	s.mu.Lock()
	s.asked = append(s.asked, question)
	s.mu.Unlock()
	a := witness.Answer{By: s.Name()}
	f := s.about(question)
	if f == nil {
		a.NotFound, a.Text = true, nothing(language)
		return a, nil
	}
	if s.Flawless {
		a.Text = f.Truth
		return a, nil
	}
	if isConfrontation(question, earlier) {
		switch {
		case s.Confronted != "":
			a.Text = s.Confronted
		case s.Stubborn:
			a.Text = s.last(f, earlier)
		default:
			a.Text = f.Truth
		}
		return a, nil
	}
	a.Text = f.said(s.times(f, earlier))
	return a, nil
}

func nothing(language string) string {
	if language == "de" {
		return "Dazu weiß ich nichts."
	}
	return "I know nothing about that."
}

// said is what is told of a fact the n-th time, from 0.
func (f *Fact) said(n int) string {
	if n < len(f.Evasions) {
		return f.Evasions[n]
	}
	n -= len(f.Evasions)
	switch {
	case n < len(f.Lies):
		return f.Lies[n]
	case len(f.Lies) == 0 || f.Confess:
		return f.Truth
	}
	return f.Lies[len(f.Lies)-1]
}

// times is how often it was asked of a fact before.
func (s *Scripted) times(f *Fact, earlier []witness.Exchange) (n int) {
	for i, e := range earlier {
		if s.about(e.Question) == f && !isConfrontation(e.Question, earlier[:i]) {
			n++
		}
	}
	return n
}

// last is what it said last of a fact.
func (s *Scripted) last(f *Fact, earlier []witness.Exchange) string {
	for i := len(earlier) - 1; i >= 0; i-- {
		if s.about(earlier[i].Question) == f {
			return earlier[i].Answer
		}
	}
	return f.said(0)
}

// about is the fact that a question has most keywords of, the first of several; nil if it has none.
func (s *Scripted) about(question string) *Fact {
	words := search.Words(question)
	var best *Fact
	most := 0
	for i := range s.Facts {
		n := 0
		for _, k := range s.Facts[i].Keywords {
			if holds(words, search.Words(k)) {
				n++
			}
		}
		if n > most {
			best, most = &s.Facts[i], n
		}
	}
	return best
}

// holds says whether words stand in a row in others; the last may be the beginning of a longer one.
func holds(all, words []string) bool {
	for i := 0; len(words) > 0 && i+len(words) <= len(all); i++ {
		same := true
		for j, w := range words {
			same = same && (all[i+j] == w || j == len(words)-1 && len(w) >= 3 && strings.HasPrefix(all[i+j], w))
		}
		if same {
			return true
		}
	}
	return false
}

// isConfrontation says whether a question quotes two earlier answers, or their beginnings.
func isConfrontation(question string, earlier []witness.Exchange) bool {
	quoted := map[string]bool{}
	for _, part := range strings.FieldsFunc(question, func(r rune) bool { return strings.ContainsRune("“”„\"«»", r) }) {
		words := search.Words(part)
		for _, e := range earlier {
			if len(words) >= 2 && !e.NotFound && holds(search.Words(e.Answer), words) {
				quoted[e.Answer] = true
			}
		}
	}
	return len(quoted) >= 2
}
