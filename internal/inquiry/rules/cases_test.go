package rules

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// interview is a labelled one.
type interview struct {
	name, language, hypothesis string
	all                        []Exchange
	gaps                       []string // “pair category aspect”
	clashes                    []string // “pair pair kind”, recorded
	suspicions                 []string // not recorded
	missed                     []string // clashes that are there, and that the rules abstain from or only suspect
}

var interviewFiles = []string{"en.txt", "de.txt", "en2.txt", "de2.txt", "en3.txt", "de3.txt", "fresh_en.txt", "fresh_de.txt", "fresh2_en.txt", "fresh2_de.txt",
	"fresh3_en.txt", "fresh3_de.txt", "elliptic_en.txt", "elliptic_de.txt"}

// interviews reads a file of blocks: “case en NAME”, “H:”, “Q:”, “A:” (“N:” for an answer that is a typed not found), “gap:”, “clash:”, “suspect:”,
// “missed:”.
func interviews(t testing.TB, file string) (list []interview) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "case "); ok {
			code, name, _ := strings.Cut(rest, " ")
			list = append(list, interview{language: code, name: name})
			continue
		}
		kind, rest, found := strings.Cut(line, ":")
		if !found || strings.HasPrefix(line, "#") {
			continue
		}
		c := &list[len(list)-1]
		rest = strings.TrimSpace(rest)
		switch kind {
		case "H":
			c.hypothesis = rest
		case "Q":
			c.all = append(c.all, Exchange{Question: rest})
		case "A":
			c.all[len(c.all)-1].Answer = rest
		case "N":
			c.all[len(c.all)-1].Answer, c.all[len(c.all)-1].NotFound = rest, true
		case "gap":
			c.gaps = append(c.gaps, rest)
		case "clash":
			c.clashes = append(c.clashes, rest)
		case "missed":
			c.missed = append(c.missed, rest)
		case "suspect":
			c.suspicions = append(c.suspicions, rest)
		default:
			t.Fatalf("%s: %q", file, line)
		}
	}
	return list
}

// found lists what the rules find in an interview, in the form of the labels.
func (i interview) found() (gaps, clashes []string) {
	a := Finished(i.hypothesis, i.language, i.all)
	for _, g := range a.Gaps {
		if g.Category != Inconsistency {
			gaps = append(gaps, gapLabel(g.Pair, g.Category, g.Aspect))
		}
	}
	for _, c := range a.Contradictions {
		clashes = append(clashes, fmt.Sprintf("%d %d", c.Pairs[0], c.Pairs[1]))
	}
	return gaps, clashes
}

func gapLabel(pair int, category, aspect string) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s %s", pair, category, aspect))
}

// score counts what was found, what was found rightly, and what was to be found.
type score struct{ found, right, wanted int }

func (s *score) add(got, want []string) {
	s.found += len(got)
	s.wanted += len(want)
	for _, g := range got {
		if slices.Contains(want, g) {
			s.right++
		}
	}
}

func (s score) String() string {
	return fmt.Sprintf("precision %d of %d, recall %d of %d", s.right, s.found, s.right, s.wanted)
}

// TestInterviewsGiveTheGapsOfTheirLabelsAndMostOfTheClashes wants no gap that has no label, and two of three that have one: which are told is
// learned, and so are clashes.
func TestInterviewsGiveTheGapsOfTheirLabelsAndMostOfTheClashes(t *testing.T) {
	all, clashesOf := score{}, score{}
	for _, file := range interviewFiles {
		gapsOf := score{}
		for _, i := range interviews(t, file) {
			gaps, clashes := i.found()
			gapsOf.add(gaps, i.gaps)
			all.add(gaps, i.gaps)
			clashesOf.add(clashes, pairsOf(slices.Concat(i.clashes, i.missed)))
			t.Run(i.language+" "+i.name, func(t *testing.T) {
				if extra := slices.DeleteFunc(gaps, func(g string) bool { return slices.Contains(i.gaps, g) }); len(extra) > 0 {
					t.Errorf("gaps %q are reported, and labelled are %q alone", extra, i.gaps)
				}
			})
		}
		t.Logf("%s: gaps %v", file, gapsOf)
	}
	if 3*all.right < 2*all.wanted {
		t.Errorf("gaps: %v; two of three must be found", all)
	}
	if 10*clashesOf.right < 9*clashesOf.found || 2*clashesOf.right < clashesOf.wanted {
		t.Errorf("contradictions: %v", clashesOf)
	}
	t.Logf("contradictions: %v", clashesOf)
}

// pairsOf leaves the exchanges of labels “pair pair kind”.
func pairsOf(labels []string) (out []string) {
	for _, l := range labels {
		out = append(out, l[:strings.LastIndexByte(l, ' ')])
	}
	return out
}
