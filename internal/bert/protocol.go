package bert

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The protocol: a line of JSON each. The child first says that it is ready, or why it isn't; then each question gets one
// answer of the same id, in order.
type question struct {
	ID     int64   `json:"id"`
	Text   string  `json:"text"`
	Labels []Label `json:"labels"`
}

type answer struct {
	ID     int64    `json:"id"`
	Ready  *traits  `json:"ready,omitempty"`
	Scores []Score  `json:"scores,omitempty"`
	Error  *problem `json:"error,omitempty"`
}

// traits are what a model says of itself.
type traits struct {
	Kind   ModelKind `json:"kind"`
	Labels []string  `json:"labels"`
}

type problem struct {
	Kind    ErrorKind `json:"kind"`
	Message string    `json:"message"`
}

func (p *problem) Error() string { return p.Message }

func problemf(kind ErrorKind, format string, args ...any) *problem {
	return &problem{kind, fmt.Sprintf(format, args...)}
}

// Problemf is an error that the asking side gets as one of this kind. A model's loading fails with it.
func Problemf(kind ErrorKind, format string, args ...any) error {
	return problemf(kind, format, args...)
}

// maxLine bounds a line, in bytes: a question at its bounds, each character escaped, takes less than half.
const maxLine = 256 << 10

var errLine = errors.New("a line of more than 256 KB")

// readLine returns the next line without its end. The last one counts only if it has an end: the writer may have died in it.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return nil, errLine
	}
	if err != nil {
		return nil, err
	}
	return bytes.TrimSpace(line), nil
}

func lines(r io.Reader) *bufio.Reader { return bufio.NewReaderSize(r, maxLine) }

func writeLine(w io.Writer, v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// newQuestion cleans what is asked and holds it to its bounds.
func newQuestion(text string, labels []Label) (question, error) {
	q := question{Text: Excerpt(text, MaxText), Labels: make([]Label, 0, len(labels))}
	if q.Text == "" {
		return q, problemf(Invalid, "there is no text to classify")
	}
	if len(labels) < 2 || len(labels) > MaxLabels {
		return q, problemf(Invalid, "%d labels to choose from; 2 to %d are possible", len(labels), MaxLabels)
	}
	seen := map[string]string{}
	for _, l := range labels {
		name := alike(l.Name)
		if name == "" || utf8.RuneCountInString(l.Name) > MaxName || utf8.RuneCountInString(l.Hypothesis) > MaxHypothesis {
			return q, problemf(Invalid, "the label %q has no name, a name of more than %d characters, or a hypothesis of more than %d",
				Snippet(l.Name), MaxName, MaxHypothesis)
		}
		if other, ok := seen[name]; ok {
			return q, problemf(Invalid, "the labels %q and %q can't be told apart", other, l.Name)
		}
		seen[name] = l.Name
		q.Labels = append(q.Labels, Label{Name: l.Name, Hypothesis: Excerpt(l.Hypothesis, MaxHypothesis)})
	}
	return q, nil
}

// check holds an answer against its question: every label once, best first, each score a share.
func (q question) check(a answer) error {
	wanted := map[string]bool{}
	for _, l := range q.Labels {
		wanted[l.Name] = true
	}
	last := 1.0
	for _, s := range a.Scores {
		if !wanted[s.Label] || !(s.Score >= 0 && s.Score <= last) {
			return fmt.Errorf("a score of %v for %q after %v", s.Score, Snippet(s.Label), last)
		}
		delete(wanted, s.Label)
		last = s.Score
	}
	if a.ID != q.ID || len(wanted) > 0 {
		return fmt.Errorf("answer %d to question %d lacks %d labels", a.ID, q.ID, len(wanted))
	}
	return nil
}

func names(labels []Label) string {
	var list []string
	for _, l := range labels {
		list = append(list, l.Name)
	}
	return strings.Join(list, ", ")
}

// gap stands where a text was cut.
const gap = " … "

// Excerpt is the text in one line, without control characters and invalid UTF-8, and at most n characters long: head and tail,
// because a turn says at its beginning what it is about and at its end what it came to.
func Excerpt(text string, n int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " "))
	return headAndTail(strings.Join(strings.Fields(text), " "), n)
}

// headAndTail leaves at most n characters of the text.
func headAndTail(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	keep := n - len([]rune(gap))
	if keep <= 0 {
		return string(runes[:n])
	}
	head := (keep + 1) / 2
	return string(runes[:head]) + gap + string(runes[len(runes)-(keep-head):])
}

// alike is the form in which the names of labels are compared: “Go-On”, “go on” and “go_on” are one.
func alike(name string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r == '-' || unicode.IsSpace(r) {
			return '_'
		}
		return r
	}, strings.TrimSpace(name)))
}

// Snippet is foreign text fit for the line of an error: one line, no control characters, short.
func Snippet(text string) string { return Excerpt(text, 300) }
