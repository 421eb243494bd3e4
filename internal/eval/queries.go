// Package eval scores the program's parts against the labelled sets in eval/ at the root.
//
// Scoring is deterministic: the same set and the same program give the same report, byte for byte.
package eval

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"strings"

	"sibyl/internal/oracle/classify"
)

// Half splits a set: rules are tuned on one half and judged by the other.
type Half string

// The halves of a set; Both selects either.
const (
	Dev  Half = "dev"
	Test Half = "test"
	Both Half = ""
)

// HalfOf assigns a query to its half by the top bit of the 64-bit FNV-1a hash of its text, so that nobody chooses.
func HalfOf(query string) Half {
	h := fnv.New64a()
	_, _ = io.WriteString(h, query) // a hash never fails to write
	if h.Sum64()>>63 == 0 {
		return Dev
	}
	return Test
}

// Query is one line of a labelled set. History holds the earlier questions of its session, oldest first.
type Query struct {
	Text    string        `json:"query"`
	Label   classify.Type `json:"label"`
	Half    Half          `json:"half"`
	History []string      `json:"history,omitempty"`
	Note    string        `json:"note,omitempty"`
}

// maxLine bounds a line of a set, in bytes.
const maxLine = 1 << 20

// LoadQueryFile reads a set in JSON lines; blank lines are skipped. An error names the line that is wrong and what it lacks.
func LoadQueryFile(files fs.FS, name string) ([]Query, error) {
	return LoadSet(files, name, Query.check)
}

func (q Query) check() error {
	switch {
	case strings.TrimSpace(q.Text) == "":
		return errors.New(`"query" is empty`)
	case !q.Label.Valid():
		return fmt.Errorf(`"label" is %q; it must be one of %v`, q.Label, classify.Types())
	case q.Half != Dev && q.Half != Test:
		return fmt.Errorf(`"half" is %q; it must be %q or %q`, q.Half, Dev, Test)
	}
	return nil
}

// LoadSet reads a set in JSON lines, each checked; blank lines are skipped. An error names the file, the line that is wrong and what it lacks.
func LoadSet[T any](files fs.FS, name string, check func(T) error) ([]T, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, fmt.Errorf("labelled set: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	all, err := readSet(f, check)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return all, nil
}

// readSet reads JSON lines of one kind, each checked.
func readSet[T any](r io.Reader, check func(T) error) ([]T, error) {
	var all []T
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() {
		n++
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		one, err := decodeLine[T](line)
		if err == nil {
			err = check(one)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		all = append(all, one)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", n+1, err)
	}
	if len(all) == 0 {
		return nil, errors.New("the set is empty")
	}
	return all, nil
}

func decodeLine[T any](line []byte) (one T, err error) {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&one); err != nil {
		return one, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return one, errors.New("more than one JSON value; write one object per line")
	}
	return one, nil
}

// OneOf are values of which each is right; in JSON one, or a list of them.
type OneOf[T any] []T

// UnmarshalJSON reads a value or a list of values. Members that a value does not have are an error.
func (o *OneOf[T]) UnmarshalJSON(text []byte) (err error) {
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		*o, err = decodeLine[[]T](text)
		return err
	}
	one, err := decodeLine[T](text)
	*o = OneOf[T]{one}
	return err
}

// WithID checks entries whose ids tell them apart. What it gives is for one reading of a set.
func WithID[T any](id func(T) string, check func(T) error) func(T) error {
	seen := map[string]bool{}
	return func(one T) error {
		name := id(one)
		if name == "" || seen[name] {
			return fmt.Errorf("\"id\" is %q; each line needs one of its own", name)
		}
		seen[name] = true
		if err := check(one); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
}
