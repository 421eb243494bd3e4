package find

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"golang.org/x/sync/errgroup"

	"sibyl/cmd/sibyl-eval/scores"
)

// Lines are lines of a file, from 1, inclusive.
type Lines struct{ Start, End int }

// Passage is what a search shows of one place.
type Passage struct {
	Path  string
	Lines []Lines
}

// Found is what a finder gives for a question.
type Found struct {
	Passages []Passage // the best first
	Claimed  bool      // it says that they answer the question, not that they may
}

// Finder is a search that is scored.
type Finder struct {
	Name string
	Find func(ctx context.Context, dir string, q Question) (Found, error)
}

func (p Passage) String() string {
	var b strings.Builder
	b.WriteString(p.Path)
	for _, l := range p.Lines {
		fmt.Fprintf(&b, " %d-%d", l.Start, l.End)
	}
	return b.String()
}

const (
	shown   = 4  // passages that count
	enough  = 3  // lines of a place that show it
	longest = 40 // lines of a passage
)

// Result is how one finder did on one question.
type Result struct {
	Question `json:"question"`
	Finder   string   `json:"finder"`
	First    bool     `json:"first"` // the first passage shows a place
	Any      bool     `json:"any"`   // one of four does
	Got      []string `json:"got"`   // the passages that count
	Claimed  bool     `json:"claimed"`
}

// Tally counts the questions of a finder.
type Tally struct {
	Finder string     `json:"finder"`
	First  eval.Share `json:"first"`
	Any    eval.Share `json:"one_of_four"`
	// of the questions it says it answered, those of which one passage of four is right
	Claims eval.Share `json:"claims"`
}

// Report is the score of several finders on one half of a set.
type Report struct {
	Tallies  []Tally  `json:"tallies"`
	Failures []Result `json:"failures,omitempty"` // of the first finder, in the open half only
	Missing  []string `json:"missing,omitempty"`  // corpora that are not on this machine
}

// Set is what is to be scored.
type Set struct {
	Questions []Question
	Frozen    bool              // the half that nobody tunes on, else the other
	Whole     bool              // all questions: the set has no halves
	Folders   map[string]string // of the corpora that are there
	Parallel  int
	Failures  bool
}

// Run scores finders on one half of the questions.
func Run(ctx context.Context, set Set, finders ...Finder) (Report, error) {
	r := Report{}
	var asked []Question
	for _, q := range set.Questions {
		switch {
		case !set.Whole && q.Frozen() != set.Frozen:
		case set.Folders[q.Corpus] == "":
			if !slices.Contains(r.Missing, q.Corpus) {
				r.Missing = append(r.Missing, q.Corpus)
			}
		default:
			asked = append(asked, q)
		}
	}
	for corpus, dir := range set.Folders {
		of := slices.DeleteFunc(slices.Clone(asked), func(q Question) bool { return q.Corpus != corpus })
		if err := Prove(of, os.DirFS(dir)); err != nil {
			return r, fmt.Errorf("the labels do not fit %s in %s: %w", corpus, dir, err)
		}
	}
	results := make([]Result, len(asked)*len(finders))
	var crew errgroup.Group
	crew.SetLimit(max(1, set.Parallel))
	for i, q := range asked {
		for j, f := range finders {
			crew.Go(func() error {
				var err error
				results[i*len(finders)+j], err = score(ctx, f, set.Folders[q.Corpus], q)
				return err
			})
		}
	}
	if err := crew.Wait(); err != nil {
		return r, err
	}
	r.count(results, finders, set.Failures && !set.Frozen)
	return r, nil
}

func score(ctx context.Context, f Finder, dir string, q Question) (Result, error) {
	found, err := f.Find(ctx, dir, q)
	if err = errors.Join(err, ctx.Err()); err != nil {
		return Result{}, fmt.Errorf("%s, asked %s: %w", f.Name, q.ID, err)
	}
	res := Result{Question: q, Finder: f.Name, Claimed: found.Claimed}
	files := os.DirFS(dir)
	for i, p := range found.Passages[:min(len(found.Passages), shown)] {
		right := p.Shows(files, q.Places)
		res.Any = res.Any || right
		res.First = res.First || right && i == 0
		res.Got = append(res.Got, p.String())
	}
	return res, nil
}

// Shows says whether a passage shows one of the places: the line of its name, or three lines of it.
func (p Passage) Shows(files fs.FS, places []Place) bool {
	for _, place := range places {
		if p.Path != place.Path {
			continue
		}
		named, seen := place.nameLine(linesOf(files, place.Path)), 0
		for _, l := range p.Lines {
			if l.Start <= named && named <= l.End {
				return true
			}
			seen += max(0, min(l.End, place.End)-max(l.Start, place.Start)+1)
		}
		if seen >= enough {
			return true
		}
	}
	return false
}

func (r *Report) count(results []Result, finders []Finder, failures bool) {
	for i, f := range finders {
		first, some, all, claimed, kept := 0, 0, 0, 0, 0
		for _, res := range results {
			if res.Finder != f.Name {
				continue
			}
			all++
			for count, is := range map[*int]bool{&first: res.First, &some: res.Any, &claimed: res.Claimed,
				&kept: res.Claimed && res.Any} {
				if is {
					*count++
				}
			}
			if failures && i == 0 && (!res.First || res.Claimed && !res.Any) {
				r.Failures = append(r.Failures, res)
			}
		}
		r.Tallies = append(r.Tallies, Tally{Finder: f.Name, First: eval.ShareOf(first, all),
			Any: eval.ShareOf(some, all), Claims: eval.ShareOf(kept, claimed)})
	}
}

// WriteText writes the report for people.
func (r Report) WriteText(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(tw, "the place that answers is\tin the first passage\tin one of four\tin one of four, where it says "+
		"that it answers\n")
	for _, t := range r.Tallies {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", t.Finder, t.First, t.Any, t.Claims)
	}
	for _, f := range r.Failures {
		also := ""
		switch {
		case f.Any:
			also = " (shown, not first)"
		case f.Claimed:
			also = " (claimed)"
		}
		fmt.Fprintf(tw, "\n%s%s: %s\n  wanted %s:%d %s, got %s\n", f.ID, also, f.Text, f.Places[0].Path,
			f.Places[0].Start, f.Places[0].Name, strings.Join(f.Got, "; "))
	}
	for _, m := range r.Missing {
		fmt.Fprintf(tw, "\nnot scored: %s is not on this machine\n", m)
	}
	return tw.Flush()
}

// Hits reads the passages of a search tool's result. Code and notes name their places alike.
func Hits(data json.RawMessage) (Found, error) {
	var d struct {
		Hits []struct {
			Path  string `json:"path"`
			Start int    `json:"start"`
			End   int    `json:"end"`
			Head  int    `json:"head"` // where the signature ends
			From  int    `json:"from"` // the best lines
			To    int    `json:"to"`
		} `json:"hits"`
	}
	if err := json.Unmarshal(data, &d); err != nil {
		return Found{}, err
	}
	var found Found
	for _, h := range d.Hits {
		lines := []Lines{{h.Start, min(h.End, h.Start+longest-1)}}
		if h.From > h.Start {
			lines = []Lines{{h.Start, max(h.Start, h.Head)}, {h.From, h.To}}
		}
		found.Passages = append(found.Passages, Passage{Path: h.Path, Lines: lines})
	}
	return found, nil
}
