package understand

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// A gold line is "[context] words => results". The context has shown=N, spoken, en/de/pt, prev:INTENT, and confirm:INTENT, value:INTENT
// or choose:INTENT(option|option). Results stand one after the other with ";" between. Each is an intent and, where they matter: a title in
// quotation marks, desc"…", when"…", #1,-1 for positions, ~"words" for a reference by title, it, all, except(…), none (no reference), pending,
// completed, newest. A result ending with "?" is one that must stay below the threshold of its intent, every other of the five must reach it.
type goldLine struct {
	number  int
	words   string
	context Context
	want    string
}

var thresholds = map[Intent]float64{List: .70, Create: .80, Complete: .80, Update: .85, Delete: .90}

func readGold(tb testing.TB, name string) (lines []goldLine) {
	tb.Helper()
	f, err := os.Open(name)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	scanner := bufio.NewScanner(f)
	for n := 1; scanner.Scan(); n++ {
		line := strings.TrimSpace(scanner.Text())
		if line == "" || strings.HasPrefix(line, "//") {
			continue
		}
		g := goldLine{number: n, context: Context{Shown: 5, Spoken: true}}
		if strings.HasPrefix(line, "[") {
			var head string
			head, line, _ = strings.Cut(line[1:], "] ")
			g.context = parseContext(tb, head)
		}
		at := strings.LastIndex(line+" ", " => ")
		if at < 0 {
			tb.Fatalf("%s:%d: no “=>” in %q", name, n, line)
		}
		g.words, g.want = strings.ReplaceAll(line[:at], `\n`, "\n"), strings.TrimSpace(line[at+3:])
		lines = append(lines, g)
	}
	if err := scanner.Err(); err != nil {
		tb.Fatal(err)
	}
	return lines
}

func parseContext(tb testing.TB, head string) (c Context) {
	tb.Helper()
	head, options, _ := strings.Cut(head, "(")
	for _, field := range strings.Fields(head) {
		kind, intent, open := strings.Cut(field, ":")
		switch {
		case kind == "prev":
			c.Previous = Intent(intent)
		case open:
			c.Open = &Open{Kind: kind, Intent: Intent(intent)}
			if options != "" {
				c.Open.Options = strings.Split(strings.TrimSuffix(options, ")"), "|")
			}
		case field == "spoken":
			c.Spoken = true
		case strings.HasPrefix(field, "shown="):
			c.Shown, _ = strconv.Atoi(field[6:])
		default:
			c.Language = field
		}
	}
	return c
}

func referenceText(r *Reference) string {
	if r == nil {
		return ""
	}
	out := ""
	if r.Positions != nil {
		out += " #" + strings.ReplaceAll(strings.Trim(fmt.Sprint(r.Positions), "[]"), " ", ",")
	}
	if r.It {
		out += " it"
	}
	if r.All {
		out += " all"
	}
	if r.Except != nil {
		out += " except(" + strings.TrimSpace(referenceText(r.Except)) + ")"
	}
	if r.Title != "" {
		out += fmt.Sprintf(" ~%q", r.Title)
	}
	return out
}

func resultText(r Result) string {
	out := string(r.Intent)
	e := r.Entities
	if e.Title != "" {
		out += fmt.Sprintf(" %q", e.Title)
	}
	if e.HasDescription {
		out += fmt.Sprintf(" desc%q", e.Description)
	}
	if e.When != "" {
		out += fmt.Sprintf(" when%q", e.When)
	}
	out += referenceText(e.Reference)
	if e.Status != "" {
		out += " " + e.Status
	}
	if e.Newest {
		out += " newest"
	}
	if least, ok := thresholds[r.Intent]; ok && r.Confidence < least-1e-9 {
		out += " ?"
	}
	return out
}

func readingText(r Reading) string {
	var out []string
	for _, x := range r.Results {
		out = append(out, resultText(x))
	}
	return strings.Join(out, "; ")
}

// golds are the files of gold lines.
var golds = []string{"testdata/gold.txt", "testdata/turns.txt", "testdata/german.txt", "testdata/portuguese.txt"}

// TestGold reads every line of the gold files as its author meant it.
func TestGold(t *testing.T) {
	for _, name := range golds {
		wrong := 0
		lines := readGold(t, name)
		for _, g := range lines {
			if got := Read(g.words, g.context); readingText(got) != g.want {
				wrong++
				t.Errorf("%s:%d: %q\n\tgot  %s\n\twant %s", name, g.number, g.words, readingText(got), g.want)
			}
		}
		t.Logf("%s: %d of %d lines are read as meant", name, len(lines)-wrong, len(lines))
	}
}
