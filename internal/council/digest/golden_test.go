package digest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew; read them before they are kept")

// session reads a file of entries, each below a line “== t1”, or “== r1 Name” for an answer.
func session(t *testing.T, file string) (entries []Entry) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for block := range strings.SplitSeq("\n"+string(text), "\n== ") {
		head, body, found := strings.Cut(block, "\n")
		if !found {
			continue
		}
		id, oracle, _ := strings.Cut(head, " ")
		entries = append(entries, Entry{ID: id, Sequence: int(id[1] - '0'), Oracle: oracle, Text: body})
	}
	if len(entries) == 0 {
		t.Fatalf("%s holds no entry", file)
	}
	return entries
}

func frame(t *testing.T, name string) Frame {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "frames", name+".md"))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(content), "\n")
	return Frame{Name: strings.TrimPrefix(first, "# "), Content: string(content)}
}

// golden compares with a file, or writes it.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; run with -update and read what changed. Got:\n%s", file, got)
	}
}

func TestDigestsOfSessions(t *testing.T) {
	for language, name := range map[string]string{"pt": "cetico", "en": "pragmatist", "de": "visionaer"} {
		files, err := filepath.Glob(filepath.Join("testdata", language, "*.txt"))
		if err != nil || len(files) < 12 {
			t.Fatalf("%d sessions in %s (%v)", len(files), language, err)
		}
		for _, file := range files {
			t.Run(language+"/"+filepath.Base(file), func(t *testing.T) {
				golden(t, strings.TrimSuffix(file, ".txt")+".golden", Write(frame(t, name), session(t, file), language))
			})
		}
	}
}
