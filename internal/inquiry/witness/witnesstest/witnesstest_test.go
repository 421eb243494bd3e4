package witnesstest

import (
	"testing"

	"sibyl/internal/inquiry/witness"
)

// interview asks questions one after the other.
func interview(t *testing.T, s *Scripted, questions ...string) (answers []string) {
	t.Helper()
	var earlier []witness.Exchange
	for _, q := range questions {
		a, err := s.Answer(t.Context(), q, "en", earlier)
		if err != nil {
			t.Fatal(err)
		}
		earlier = append(earlier, witness.Exchange{Question: q, Answer: a.Text, NotFound: a.NotFound})
		answers = append(answers, a.Text)
	}
	return answers
}

func facts() []Fact {
	return []Fact{
		{Aspect: "when", Keywords: []string{"when", "installed", "date"}, Truth: "It was installed on 3 May 2019.", Lies: []string{"It was installed in March 2019.", "It was installed on 9 June 2019."}},
		{Aspect: "cost", Keywords: []string{"cost", "how much"}, Truth: "It cost 900 euros.", Evasions: []string{"That is hard to say."}},
		{Aspect: "who", Keywords: []string{"who"}, Truth: "Hydra did it.", Lies: []string{"Norden did it."}, Confess: true},
	}
}

func TestWitnessFollowsItsScript(t *testing.T) {
	const confrontation = "You said “It was installed in March 2019”, and then “It was installed on 9 June”: which holds?"
	questions := []string{"When was it installed?", "Tell me the date again.", "When?", "How much did it cost?", "What did the installation cost?", "Who did it?", "Who exactly?", "What colour is it?", confrontation}
	lies := []string{"It was installed in March 2019.", "It was installed on 9 June 2019.", "It was installed on 9 June 2019.", "That is hard to say.", "It cost 900 euros.", "Norden did it.", "Hydra did it.", "I know nothing about that."}
	for name, c := range map[string]struct {
		s    *Scripted
		want []string
	}{
		"liar":     {&Scripted{Facts: facts()}, append(lies, "It was installed on 3 May 2019.")},
		"stubborn": {&Scripted{Facts: facts(), Stubborn: true}, append(lies, "It was installed on 9 June 2019.")},
		"prepared": {&Scripted{Facts: facts(), Confronted: "I was mistaken."}, append(lies, "I was mistaken.")},
		"flawless": {&Scripted{Facts: facts(), Flawless: true}, []string{"It was installed on 3 May 2019.", "It was installed on 3 May 2019.", "It was installed on 3 May 2019.", "It cost 900 euros.", "It cost 900 euros.", "Hydra did it.", "Hydra did it.",
			"I know nothing about that.", "It was installed on 3 May 2019."}},
	} {
		got := interview(t, c.s, questions...)
		for i := range c.want {
			if got[i] != c.want[i] {
				t.Errorf("%s, %s: %q, want %q", name, questions[i], got[i], c.want[i])
			}
		}
		if asked := c.s.Asked(); len(asked) != len(questions) || asked[0] != questions[0] {
			t.Errorf("%s: asked %q", name, asked)
		}
	}
}
