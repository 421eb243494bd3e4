package rules

import (
	"fmt"
	"strings"
	"testing"
)

func TestTheDetectiveAsksForMoreOfThingsAndForWhatIsWritten(t *testing.T) {
	for language, w := range map[string][3]string{
		"en": {"The warehouse burned because of the charger.", "On the %s: is there more to say?", "written down"},
		"de": {"Das Lager brannte wegen der Ladestation ab.", "Zum Stichwort %s: Gibt es dazu mehr zu sagen?", "aufgeschrieben"},
	} {
		c := New(w[0], language)
		asked := map[string]bool{}
		more, written := 0, 0
		for n := range 14 {
			q, ok := c.Next(Breadth)
			if !ok {
				break
			}
			if asked[q.Text] {
				t.Errorf("asked again: %q", q.Text)
			}
			asked[q.Text] = true
			_, end, _ := strings.Cut(w[1], "%s")
			if strings.HasSuffix(q.Text, end) {
				more++
			}
			if strings.Contains(q.Text, w[2]) {
				written++
			}
			c.Add(Exchange{Question: q.Text, Answer: fmt.Sprintf("%d.", 100+n)})
		}
		if more+written != mostProbes || more == 0 || written != 1 {
			t.Errorf("%s: %d times for more, %d times for what is written: %v", language, more, written, asked)
		}
	}
}

func TestWhoHasNoMoreToSayLeavesNothingOpen(t *testing.T) {
	c := New("The warehouse burned because of the charger.", "en")
	c.Add(Exchange{Question: "On the charger: is there more to say?", Answer: "I don't know."})
	if a := c.Analysis(); len(a.Gaps) > 0 {
		t.Errorf("%+v", a.Gaps)
	}
}
