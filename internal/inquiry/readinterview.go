package inquiry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// InterviewError is what is wrong with the text of an interview.
type InterviewError struct {
	Line    int    // from 1; 0 for the whole
	Field   string // as “pairs[2].answer”; "" for the whole
	Problem string
}

func (e *InterviewError) Error() string {
	where := e.Field
	if e.Line > 0 {
		where = strings.TrimPrefix(fmt.Sprintf("%s (line %d)", where, e.Line), " ")
	}
	return strings.TrimPrefix(where+": "+e.Problem, ": ")
}

// interviewForm is how an interview is written.
const interviewForm = `an interview is {"hypothesis": "…", "language": "en" or "de", "pairs": [{"question": "…", "answer": "…"}]}`

// ReadInterview reads an interview, and says what is wrong with it and where: an *InterviewError. An answer may be empty, and is not to be left out.
func ReadInterview(raw []byte) (i Interview, err error) {
	raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
	r := reading{raw: raw, in: json.NewDecoder(bytes.NewReader(raw))}
	var whole json.RawMessage
	var syntax *json.SyntaxError
	switch err := json.Unmarshal(raw, &whole); {
	case len(bytes.TrimSpace(raw)) == 0:
		return i, &InterviewError{Problem: "it is empty; " + interviewForm}
	case errors.As(err, &syntax) && strings.Contains(err.Error(), "after top-level value"):
		return i, r.wrongAt(syntax.Offset, "", "there is more than one JSON value; "+interviewForm)
	case errors.As(err, &syntax):
		return i, r.wrongAt(syntax.Offset, "", "it is not JSON: %v; %s", err, interviewForm)
	}
	if err := r.interview(&i); err != nil {
		return i, err
	}
	switch {
	case strings.TrimSpace(i.Hypothesis) == "":
		return i, &InterviewError{Line: r.lines["hypothesis"], Field: "hypothesis", Problem: "it is missing, or empty"}
	case i.Language != "" && i.Language != "en" && i.Language != "de":
		return i, &InterviewError{Line: r.lines["language"], Field: "language", Problem: fmt.Sprintf("it is %.20q: en or de, or leave it out", i.Language)}
	case len(i.Pairs) == 0 || len(i.Pairs) > MostPairs:
		return i, &InterviewError{Line: r.lines["pairs"], Field: "pairs", Problem: fmt.Sprintf("there are %d pairs: 1 to %d are analysed", len(i.Pairs), MostPairs)}
	}
	return i, nil
}

// reading goes through the tokens of JSON that is known to be well formed.
type reading struct {
	raw   []byte
	in    *json.Decoder
	lines map[string]int // of the members of the interview
}

func (r *reading) wrongAt(offset int64, field, format string, args ...any) *InterviewError {
	at := min(max(offset, 0), int64(len(r.raw)))
	return &InterviewError{Line: 1 + bytes.Count(r.raw[:at], []byte("\n")), Field: field, Problem: fmt.Sprintf(format, args...)}
}

func (r *reading) wrong(field, format string, args ...any) *InterviewError {
	return r.wrongAt(r.in.InputOffset(), field, format, args...)
}

func (r *reading) interview(i *Interview) error {
	r.lines = map[string]int{}
	return r.object("", func(name string) error {
		r.lines[strings.ToLower(name)] = r.wrong("", "").Line
		switch strings.ToLower(name) {
		case "hypothesis":
			return r.text(name, &i.Hypothesis)
		case "language":
			return r.text(name, &i.Language)
		case "pairs":
			return r.list(name, func(field string) error {
				var pair Exchange
				err := r.pair(field, &pair)
				i.Pairs = append(i.Pairs, pair)
				return err
			})
		}
		return r.wrong("", "there is no field %.40q; %s", name, interviewForm)
	})
}

func (r *reading) pair(field string, pair *Exchange) error {
	answered := false
	err := r.object(field, func(name string) error {
		switch strings.ToLower(name) {
		case "question":
			return r.text(field+"."+name, &pair.Question)
		case "answer":
			answered = true
			return r.text(field+"."+name, &pair.Answer)
		}
		return r.wrong(field, `there is no field %.40q: a pair has "question" and "answer"`, name)
	})
	switch {
	case err != nil:
		return err
	case strings.TrimSpace(pair.Question) == "":
		return r.wrong(field+".question", "it is missing, or empty")
	case !answered:
		return r.wrong(field+".answer", `it is missing; an answer that says nothing is ""`)
	}
	return nil
}

// object reads an object: member reads the value of each name. None comes twice.
func (r *reading) object(field string, member func(name string) error) error {
	if err := r.opens('{', field, "an object"); err != nil {
		return err
	}
	seen := map[string]bool{}
	for r.in.More() {
		t, err := r.in.Token()
		name, isName := t.(string)
		if err != nil || !isName {
			return r.wrong(field, "it can't be read: %v", err)
		}
		if low := strings.ToLower(name); seen[low] {
			return r.wrong(field, "%.40q comes twice", name)
		} else {
			seen[low] = true
		}
		if err := member(name); err != nil {
			return err
		}
	}
	_, err := r.in.Token() // the brace
	return err
}

func (r *reading) list(field string, member func(field string) error) error {
	if err := r.opens('[', field, "a list"); err != nil {
		return err
	}
	for n := 0; r.in.More(); n++ {
		if err := member(fmt.Sprintf("%s[%d]", field, n)); err != nil {
			return err
		}
	}
	_, err := r.in.Token() // the bracket
	return err
}

func (r *reading) opens(delim json.Delim, field, what string) error {
	t, err := r.in.Token()
	if err != nil && !errors.Is(err, io.EOF) {
		return r.wrong(field, "it can't be read: %v", err)
	}
	if t != delim {
		return r.wrong(field, "it is %s, and has to be %s; %s", kindOf(t), what, interviewForm)
	}
	return nil
}

func (r *reading) text(field string, into *string) error {
	t, err := r.in.Token()
	if err != nil {
		return r.wrong(field, "it can't be read: %v", err)
	}
	text, is := t.(string)
	if !is {
		return r.wrong(field, "it is %s, and has to be a text", kindOf(t))
	}
	*into = text
	return nil
}

// kindOf is the kind of value that begins with a token.
func kindOf(t json.Token) string {
	switch t := t.(type) {
	case json.Delim:
		if t == '[' {
			return "a list"
		}
		return "an object"
	case string:
		return "a text"
	case bool:
		return "true or false"
	case nil:
		return "null"
	}
	return "a number"
}
