package stories

import (
	"strings"
	"testing"
)

func TestQuestionIsAnsweredWithItsSourcesBesideIt(t *testing.T) {
	p := open(t, "").visit(1400)
	p.says("How is a lease acquired?")
	p.sees("lease.go")
	p.press("Sources")
	p.sees("cited and read")
	p.sees("func Acquire(run string) error")
	p.picture("sources")
	p.reload()
	p.sees("How is a lease acquired?")
	p.sees("Acquire takes the lease")
	if title := evaluate[string](p, `document.querySelector("aside li .title").innerText`); !strings.Contains(title, "lease") {
		t.Errorf("the list shows %q", title)
	}
}

func TestTaskIsAddedAndAQuestionIsAnsweredByAChoice(t *testing.T) {
	p := open(t, "").visit(900)
	p.press("＋ New conversation")
	p.chooses("form select", "tasks")
	p.says("remind me to buy milk")
	p.sees("buy milk")
	p.sees("I've added")
}
