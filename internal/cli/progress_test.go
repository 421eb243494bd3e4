package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/assistant"
	"sibyl/internal/service"
)

// terminal shows what is written to it, as far as this program steers one. Nothing scrolls.
type terminal struct {
	rows [][]rune
	x, y int
}

func (t *terminal) Write(p []byte) (int, error) {
	for text := string(p); text != ""; {
		if rest, ok := strings.CutPrefix(text, "\x1b[J"); ok {
			t.rows, text = append(t.rows[:t.y:t.y], t.row()[:t.x]), rest
			continue
		}
		var up int
		if n, _ := fmt.Sscanf(text, "\x1b[%dA", &up); n == 1 {
			t.y, text = t.y-up, text[strings.IndexByte(text, 'A')+1:]
			continue
		}
		r := []rune(text)[0]
		text = text[len(string(r)):]
		switch r {
		case '\n':
			t.x, t.y = 0, t.y+1
		case '\r':
			t.x = 0
		default:
			t.rows[t.y] = append(t.row()[:t.x], r)
			t.x++
		}
	}
	return len(p), nil
}

// row is the one with the cursor, which is made if it is not there.
func (t *terminal) row() []rune {
	for len(t.rows) <= t.y {
		t.rows = append(t.rows, nil)
	}
	return t.rows[t.y]
}

func (t *terminal) lines() (all []string) {
	for _, r := range t.rows {
		all = append(all, string(r))
	}
	return all
}

// TestProgressLineStandsBesideTheAnswerAndNotInIt has an answer arrive, then the line on the turn that gave it, then the
// whole answer: on the terminal each of them stands once.
func TestProgressLineStandsBesideTheAnswerAndNotInIt(t *testing.T) {
	const end = "· satisfied; run x"
	for name, c := range map[string]struct {
		height int
		pieces []string
		want   []string
	}{
		"short":                     {24, []string{"All that ", "I have."}, []string{"· turn 1", "All that I have.", end}},
		"too tall to be taken back": {2, []string{"All that\n", "I have."}, []string{"All that", "I have.", "· turn 1", end}},
	} {
		t.Run(name, func(t *testing.T) {
			tty := &terminal{}
			cmd := &command{Streams: Streams{Out: tty, Err: tty, OutTTY: true, ErrTTY: true, Width: 80, Height: c.height}, environ: []string{"NO_COLOR=1"}}
			p := cmd.newProgress()
			for _, piece := range c.pieces {
				p.screen.provisional(piece)
			}
			p.say("turn 1")
			p.show(service.Result{Shown: assistant.Shown{Answer: strings.Join(c.pieces, ""), Notes: []string{"satisfied; run x"}}})
			if diff := cmp.Diff(c.want, tty.lines()); diff != "" {
				t.Errorf("the terminal shows (-want +got):\n%s", diff)
			}
		})
	}
}
