package code

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/tool"
)

func numbered(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func TestReadShowsTheLinesAskedFor(t *testing.T) {
	r, _ := rootOf(t, map[string]string{"f.txt": numbered(1, 1000), "one": "only", "empty": "", "crlf": "a\r\nb\r\n",
		"blank": "\n\n"})
	for _, c := range []struct {
		name       string
		args       ReadArgs
		start, end int
		total      int
		first      string
		truncated  bool
	}{
		{"range", ReadArgs{Path: "f.txt", Start: 10, End: 12}, 10, 12, 1000, "line 10", false},
		{"one line", ReadArgs{Path: "f.txt", Start: 7, End: 7}, 7, 7, 1000, "line 7", false},
		{"all of a long file", ReadArgs{Path: "f.txt"}, 1, 400, 1000, "line 1", true},
		{"exactly 400 lines", ReadArgs{Path: "f.txt", Start: 201, End: 600}, 201, 600, 1000, "line 201", false},
		{"more than 400 lines", ReadArgs{Path: "f.txt", Start: 201, End: 601}, 201, 600, 1000, "line 201", true},
		{"end beyond the file", ReadArgs{Path: "f.txt", Start: 990, End: 1100}, 990, 1000, 1000, "line 990", false},
		{"last line", ReadArgs{Path: "f.txt", Start: 1000}, 1000, 1000, 1000, "line 1000", false},
		{"around", ReadArgs{Path: "f.txt", Around: 500}, 460, 540, 1000, "line 460", false},
		{"around the beginning", ReadArgs{Path: "f.txt", Around: 1}, 1, 41, 1000, "line 1", false},
		{"around the end", ReadArgs{Path: "f.txt", Around: 1000}, 960, 1000, 1000, "line 960", false},
		{"no newline at the end", ReadArgs{Path: "one"}, 1, 1, 1, "only", false},
		{"CRLF", ReadArgs{Path: "crlf"}, 1, 2, 2, "a", false},
		{"blank lines", ReadArgs{Path: "blank"}, 1, 2, 2, "", false},
		{"unclean path", ReadArgs{Path: "./x/../one"}, 1, 1, 1, "only", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, res := data[ReadData](t, r, "code_read", c.args)
			assert.That(t, d.Start == c.start && d.End == c.end && d.Total == c.total && d.Lines[0] == c.first &&
				len(d.Lines) == d.End-d.Start+1,
				"lines %d-%d of %d, first %q, %d lines", d.Start, d.End, d.Total, d.Lines[0], len(d.Lines))
			assert.That(t, res.Truncated == c.truncated, "truncated = %v", res.Truncated)
			want := fmt.Sprintf("%4d| %s\n", c.start, c.first)
			assert.That(t, strings.Contains(res.Text, want), "%q is not in %q", want, res.Text)
		})
	}
}

func TestReadIsCitableByLinesAndHash(t *testing.T) {
	text := "a\r\nb\xff\nc"
	r, _ := rootOf(t, map[string]string{"d/f.txt": text, "empty": ""})
	if d, res := data[ReadData](t, r, "code_read", ReadArgs{Path: "empty"}); d.Total != 0 || len(d.Lines) != 0 ||
		!res.Refs[0].Opened {
		t.Errorf("an empty file: %+v %+v", d, res)
	}
	_, res := data[ReadData](t, r, "code_read", ReadArgs{Path: "d/f.txt", Start: 2, End: 3})
	sum := sha256.Sum256([]byte(text))
	want := []tool.Ref{{Source: tool.Code, Path: "d/f.txt", Start: 2, End: 3, Hash: "sha256:" +
		hex.EncodeToString(sum[:]), Opened: true}}
	assert.Same(t, want, res.Refs)
}

func TestReadRefusesWrongLinesAndSaysHowManyThereAre(t *testing.T) {
	r, _ := rootOf(t, map[string]string{"f.txt": numbered(1, 30), "empty": ""})
	for args, want := range map[string]string{
		`{"path":"f.txt","start":31}`:           "the last line is 30",
		`{"path":"f.txt","around":99}`:          "the last line is 30",
		`{"path":"f.txt","start":99,"end":120}`: "the last line is 30",
		`{"path":"empty","start":2}`:            "the last line is 0",
		`{"path":"f.txt","start":9,"end":3}`:    "before the start",
		`{"path":"f.txt","start":-1}`:           "start must be a whole number from 1 on",
		`{"path":"f.txt","start":3,"around":9}`: "cannot be combined",
		`{"start":3}`:                           "path is missing",
		`{"path":"."}`:                          "is a folder",
	} {
		_, err := call(t, r, "code_read", args)
		assert.That(t, kindOf(err) == tool.InvalidArgs && strings.Contains(err.Error(), want),
			"%s: %v, want %q", args, err, want)
	}
}

func TestReadMakesOddBytesVisible(t *testing.T) {
	r, _ := rootOf(t, map[string]string{"f": "\ufeffbom\nbad \xff\xfe utf-8\n\x1b[31mred\nbell\a\u202etxt\ttab\n"})
	d, _ := data[ReadData](t, r, "code_read", ReadArgs{Path: "f"})
	want := []string{"bom", "bad �� utf-8", "␛[31mred", "bell␇�txt\ttab"}
	assert.Same(t, want, d.Lines)
}

func TestReadRefusesBinaryWithAHint(t *testing.T) {
	r, _ := rootOf(t, map[string]string{"f.png": "\x89PNG\r\n\x1a\n\x00\x00"})
	_, err := call(t, r, "code_read", `{"path":"f.png"}`)
	assert.That(t, kindOf(err) == tool.Failed && strings.Contains(err.Error(), "binary") &&
		strings.Contains(err.Error(), "only text"), "got %v", err)
}

func TestLongLineIsCutBetweenCharactersWithANote(t *testing.T) {
	long := strings.Repeat("ä", 100_000)
	r, _ := rootOf(t, map[string]string{"f": "short\n" + long + "\nnext\n"})
	d, _ := data[ReadData](t, r, "code_read", ReadArgs{Path: "f"})
	assert.Require(t, len(d.Lines) == 3 && d.Lines[2] == "next", "%d lines", len(d.Lines))
	cut, note, _ := strings.Cut(d.Lines[1], " … ")
	assert.That(t, !strings.ContainsRune(cut, utf8.RuneError) &&
		note == fmt.Sprintf("[%d more bytes in this line]", len(long)-len(cut)), "kept %d bytes, note %q", len(cut), note)
}

func TestReadKeepsToMaxText(t *testing.T) {
	r, _ := rootOf(t, map[string]string{"f": strings.Repeat(strings.Repeat("x", 400)+"\n", 400)})
	d, res := data[ReadData](t, r, "code_read", ReadArgs{Path: "f", Start: 1, End: 400})
	assert.That(t, len(res.Text) <= tool.MaxText && res.Truncated && d.End < 400 && d.End >= 50,
		"%d bytes, lines to %d, truncated %v", len(res.Text), d.End, res.Truncated)
	assert.That(t, res.Refs[0].End == d.End && strings.Contains(res.Text, fmt.Sprintf("go on with start %d", d.End+1)),
		"the reference says %v, the text ends %q", res.Refs[0], res.Text[len(res.Text)-60:])
}

func TestReadRefusesAFileThatIsTooLarge(t *testing.T) {
	r, dir := rootOf(t, map[string]string{"huge": "x"})
	assert.NoError(t, os.Truncate(filepath.Join(dir, "huge"), maxRead+1))
	_, err := call(t, r, "code_read", `{"path":"huge"}`)
	assert.That(t, kindOf(err) == tool.TooLarge, "got %v", err)
}
