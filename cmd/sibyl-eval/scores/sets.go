// Package eval scores the program's parts against the labelled sets in eval/ at the root.
//
// Scoring is deterministic: the same set and the same program give the same report, byte for byte, but for times.
package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"math"

	"golang.org/x/sync/errgroup"
)

// Half splits a set: the program is tuned on one half and judged by the other.
type Half string

// The halves of a set.
const (
	Dev  Half = "dev"
	Test Half = "test"
)

// HalfOf assigns a text to its half by the top bit of its 64-bit FNV-1a hash, so that nobody chooses.
func HalfOf(text string) Half {
	h := fnv.New64a()
	_, _ = io.WriteString(h, text) // a hash never fails to write
	if h.Sum64()>>63 == 0 {
		return Dev
	}
	return Test
}

// LoadSet reads a set in JSON lines, each checked; blank lines are skipped. An error names the file, the line that is
// wrong and what it lacks.
func LoadSet[T any](files fs.FS, name string, check func(T) error) (all []T, err error) {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, fmt.Errorf("labelled set: %w", err)
	}
	for i, line := range bytes.Split(text, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		one, err := decodeLine[T](line)
		if err == nil {
			err = check(one)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", name, i+1, err)
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: the set is empty", name)
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

// Share is a proportion with its Wilson 95 % interval.
type Share struct {
	Hits int     `json:"hits"`
	Of   int     `json:"of"`
	Part float64 `json:"part"` // 0 where there is nothing to count
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// ShareOf is a share with its interval (E. B. Wilson, 1927); 0 to 1 for no observations.
func ShareOf(hits, of int) Share {
	if of == 0 {
		return Share{High: 1}
	}
	const z = 1.959964
	n := float64(of)
	p := float64(hits) / n
	centre, scale := p+z*z/(2*n), 1+z*z/n
	spread := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return Share{Hits: hits, Of: of, Part: p, Low: max(0, (centre-spread)/scale), High: min(1, (centre+spread)/scale)}
}

func (s Share) String() string {
	if s.Of == 0 {
		return "–"
	}
	return fmt.Sprintf("%d of %d, %.1f %% (%.0f to %.0f)", s.Hits, s.Of, 100*s.Part, 100*s.Low, 100*s.High)
}

// Each calls do for 0 to n-1, at most parallel at a time. After the first error no further call begins; that error is
// returned.
func Each(ctx context.Context, n, parallel int, do func(context.Context, int) error) error {
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(max(parallel, 1))
	for i := range n {
		all.Go(func() error {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			return do(ctx, i)
		})
	}
	return all.Wait()
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}
