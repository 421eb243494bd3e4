package sentence

import (
	"slices"
	"testing"
)

// quoted are the sentences of texts that answer a question.
func quoted(texts []Text, hypothesis, question string) (list []string) {
	c := New(texts, hypothesis)
	for _, q := range c.Answers(c.Ask(question, "en", nil), nil) {
		for _, t := range texts {
			if q.Part--; q.Part < 0 {
				list = append(list, t.Parts[0][q.From:q.To])
				break
			}
		}
	}
	return list
}

func TestATextThatTellsOfTheWholeMatterAnswersWithSentencesThatDoNotNameIt(t *testing.T) {
	texts := []Text{
		{Name: "report", Parts: []string{"Incident report: cold store Linz\n\nOn 3 May 2024 the temperature in the cold store rose to 11 degrees. Maria Huber noticed it at 6:20.\n" +
			"The compressor had stopped because a fuse had blown. 2.4 tonnes of cheese were thrown away.\n\nThe alarm had been switched off since April.\n"}},
		{Name: "garden", Parts: []string{"Garden\n\nThe cheese plant was moved because it was too cold.\nThe roses are cut in March, because they grow fast then.\n"}},
	}
	const matter = "The cheese in the cold store spoiled because the alarm was off"
	for question, want := range map[string]string{
		"Why is that so: “" + matter + "”?":                    "The compressor had stopped because a fuse had blown.",
		"Who was involved in this, by name: “" + matter + "”?": "Maria Huber noticed it at 6:20.",
	} {
		if got := quoted(texts, matter, question); len(got) == 0 || got[0] != want || slices.Contains(got, "The roses are cut in March, because they grow fast then.") {
			t.Errorf("%s: %q, want %q first", question, got, want)
		}
	}
}
