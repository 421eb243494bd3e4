package rules

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// lesson is an interview that a hand wrote and labelled: see training/README.md.
type lesson struct {
	name, language, hand, hypothesis string
	all                              []Exchange
	labels                           [][]label // by exchange
	clashes                          []lessonClash
}

// label says what an answer is worth for an aspect of its question.
type label struct {
	aspect   string // Who to How, or “whether”
	state    string // “given”, “vague”, “missing”, “ambiguous”
	severity string
	words    string
}

// lessonClash are two answers that can't both be true, or that only look so.
type lessonClash struct {
	pairs [2]int
	real  bool
	kind  string
	then  string // what the reply does: “keeps”, “evades”, “corrects”, “explains”
	words [2]string
	reply string
}

// lessons reads all files of a folder, by their names.
func lessons(t testing.TB, folder string) (list []lesson) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no lessons in %s: %v", folder, err)
	}
	slices.Sort(files)
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		hand := strings.TrimSuffix(filepath.Base(file), ".txt")
		for line := range strings.Lines(string(content)) {
			list = taught(t, hand, list, strings.TrimRight(line, "\r\n"))
		}
	}
	return list
}

// taught reads a further line of a file.
func taught(t testing.TB, hand string, list []lesson, line string) []lesson {
	if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
		return list
	}
	if rest, ok := strings.CutPrefix(line, "== "); ok {
		name, language, _ := strings.Cut(rest, " ")
		return append(list, lesson{name: name, language: language, hand: hand})
	}
	x := &list[len(list)-1]
	switch kind, rest, _ := strings.Cut(line, " "); kind {
	case "H":
		x.hypothesis = rest
	case "Q":
		x.all, x.labels = append(x.all, Exchange{Question: rest}), append(x.labels, nil)
	case "A":
		x.all[len(x.all)-1].Answer = rest
	case "":
		x.labels[len(x.labels)-1] = append(x.labels[len(x.labels)-1], labelled(strings.TrimSpace(rest)))
	case "X", "T":
		x.clashes = append(x.clashes, clashing(kind == "X", rest))
	case "R":
		x.clashes[len(x.clashes)-1].reply = rest
	default:
		t.Fatalf("%s, %s: what is %q?", hand, x.name, line)
	}
	return list
}

// labelled reads “when vague medium: some time that week”.
func labelled(line string) label {
	head, words, _ := strings.Cut(line, ":")
	part := append(strings.Fields(head), "", "")
	return label{aspect: strings.ReplaceAll(part[0], "_", " "), state: part[1], severity: part[2], words: strings.TrimSpace(words)}
}

// clashing reads “1 4 number keeps: three | two sacks”.
func clashing(real bool, line string) lessonClash {
	head, words, _ := strings.Cut(line, ":")
	part := append(strings.Fields(head), "", "", "", "")
	c := lessonClash{real: real, kind: part[2], then: part[3]}
	c.pairs[0], _ = strconv.Atoi(part[0])
	c.pairs[1], _ = strconv.Atoi(part[1])
	left, right, _ := strings.Cut(words, " | ")
	c.words = [2]string{strings.TrimSpace(left), strings.TrimSpace(right)}
	return c
}
