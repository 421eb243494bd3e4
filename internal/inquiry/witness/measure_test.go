package witness

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"sibyl/internal/document"
	"sibyl/internal/text"
)

func TestPassagesOfRealDocuments(t *testing.T) {
	docs, failed, err := document.Reader{}.ReadAll(t.Context(), "testdata/real")
	if err != nil || len(failed) > 0 {
		t.Fatal(failed, err)
	}
	w := Documents(docs, Options{}).(*ofDocuments)
	x := w.index
	total := 0
	for _, c := range w.chunks {
		total += len(c.Text)
	}
	content, _ := os.ReadFile("testdata/real.txt")
	doc, n := "", 0
	at := map[int]int{}
	first, second := 0, 0
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSpace(line)
		if d, ok := strings.CutPrefix(line, "-- "); ok {
			doc = d
		}
		question, want, ok := strings.Cut(line, " => ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		n++
		size, rank := 0, 0
		where := -1
		terms := x.terms(question, "en")
		order := ordered(x.scores(terms))
		for k, i := range order {
			c := w.chunks[i]
			if _, found := text.Find(c.Text, want); found && c.Document == doc {
				where, rank = size+len(c.Text), k+1
				break
			}
			size += len(c.Text)
		}
		for _, b := range []int{6000, 12000, 16000, 24000, 32000, 48000} {
			if where >= 0 && where <= b {
				at[b]++
			}
		}
		batch := w.batch(order, map[int]bool{}, mostGiven)
		given := map[int]bool{}
		for _, i := range batch {
			given[i] = true
		}
		batch2 := w.batch(order, given, mostGiven)
		has := func(batch []int) bool {
			for _, i := range batch {
				if _, found := text.Find(w.chunks[i].Text, want); found && w.chunks[i].Document == doc {
					return true
				}
			}
			return false
		}
		if has(batch) {
			first++
		} else if has(batch2) {
			second++
		}
		_ = rank
	}
	t.Logf("%d chunks, %d bytes; of %d: %v; first batch %d, second %d", len(w.chunks), total, n, at, first, second)
}

func TestFacts(t *testing.T) {
	docs, _, _ := document.Reader{}.ReadAll(t.Context(), "testdata/facts")
	w := Documents(docs, Options{})
	content, _ := os.ReadFile("testdata/facts.txt")
	right, wrong, any := 0, 0, 0
	for line := range strings.Lines(string(content)) {
		q, want, ok := strings.Cut(strings.TrimSpace(line), " => ")
		if !ok || line[0] == '#' {
			continue
		}
		a, err := w.Answer(t.Context(), q, "en", nil)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case strings.Contains(a.Text, want):
			right++
			if !strings.Contains(a.Citations[0].Quote, want) {
				any++
			}
		case !a.NotFound:
			wrong++
			t.Logf("wrong: %s -> %s", q, a.Text)
		default:
			t.Logf("none: %s", q)
		}
	}
	t.Log(right, any, wrong)
}

func TestOld(t *testing.T) {
	for _, name := range []string{"dev", "fresh", "last", "unseen"} {
		content, _ := os.ReadFile("testdata/" + name + ".txt")
		var ans, first, in, wrong, inv, unans int
		for part := range strings.SplitSeq(string(content), "\n== ") {
			lang, rest, _ := strings.Cut(part, "\n")
			if strings.HasPrefix(part, "#") {
				continue
			}
			var docs []document.Document
			var qs [][2]string
			for file := range strings.SplitSeq("\n"+rest, "\n-- ") {
				if strings.TrimSpace(file) == "" {
					continue
				}
				name, body, _ := strings.Cut(file, "\n")
				var b strings.Builder
				for l := range strings.Lines(body) {
					sign, asked, _ := strings.Cut(l, " ")
					q, want, is := strings.Cut(asked, " => ")
					if sign != "?" && sign != "+" || !is {
						b.WriteString(l)
					} else if sign == "?" {
						qs = append(qs, [2]string{q, strings.Trim(strings.TrimSpace(want), "-")})
					}
				}
				dir := t.TempDir()
				os.WriteFile(dir+"/"+name, []byte(b.String()), 0o600)
				d, _, _ := document.Reader{}.ReadAll(t.Context(), dir)
				docs = append(docs, d...)
			}
			w := Documents(docs, Options{})
			for _, q := range qs {
				a, err := w.Answer(t.Context(), q[0], lang, nil)
				if err != nil {
					t.Fatal(err)
				}
				if q[1] == "" {
					unans++
					if !a.NotFound {
						inv++
					}
					continue
				}
				ans++
				if a.NotFound {
					continue
				}
				switch {
				case strings.Contains(a.Citations[0].Quote, q[1]):
					first++
					in++
				case strings.Contains(a.Text, q[1]):
					in++
				default:
					wrong++
				}
			}
		}
		t.Log(fmt.Sprintf("%s: of %d: first %d, within %d, wrong %d; of %d that none answers quoted %d", name, ans, first, in, wrong, unans, inv))
	}
}
