// Package prompt composes the Oracle's prompt from segments (FR-011 to FR-014 in docs/requirements.md): the system
// prompt, which is alike in all questions of a session, and a note with the question, which has what holds for it.
//
// Guarantees:
//   - Composition is pure: equal sets and situations give equal bytes.
//   - Segments stand in the order of priority, then id, first those of the system prompt, then those of the note. One
//     whose conditions are "always" is in every prompt, and so is one form of the signals.
//   - The system prompt depends on the tools, the sources and the model, and on nothing that the question decides.
//   - Both without the names of tools never exceed Limit tokens: a set whose required segments do is refused
//     when it is made; an optional segment that does not fit is left out and noted.
//   - No composed prompt holds an unfilled variable: an unknown one is refused when the set is made.
//   - A Set is immutable and safe for concurrent use.
package prompt

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"sibyl/internal/agent"
)

// Limit bounds a prompt without the names of tools, in tokens.
const Limit = 8000

// maxFileBytes is Limit in characters of the greatest length: no longer file could ever fit.
const maxFileBytes = Limit * agent.CharsPerToken * utf8.UTFMax

// Segment is one part of a prompt. Conditions must all hold for it to be included; none at all means always.
// Its JSON form is what a run journals.
type Segment struct {
	ID            string   `json:"id"`
	File          string   `json:"file"`            // slash-separated, relative to the prompt folder
	Content       string   `json:"content"`         // the file's text, variables unfilled
	TokenEstimate int      `json:"token_estimate"`  // of Content; set by New
	Conditions    []string `json:"conditions"`      // from the vocabulary: "always", "query_type=code", …
	Priority      int      `json:"priority"`        // not negative; the lower comes first
	Noted         bool     `json:"noted,omitempty"` // it is in the note with the question
}

// required says whether the segment is in every prompt, is one of several forms of which every prompt has one, or has
// what people gave.
func (s Segment) required() bool {
	return !slices.ContainsFunc(s.Conditions, func(c string) bool {
		return c != always && !strings.HasPrefix(c, signalsAre) && !strings.HasPrefix(c, givenIs)
	})
}

// segmentTable lists the segments, without their contents.
func segmentTable() []Segment {
	return []Segment{
		{ID: "base", File: "oracle/base.md", Priority: 0, Conditions: []string{always}},
		{ID: "plain", File: "oracle/plain.md", Priority: 0, Conditions: []string{signalsAre + SignalsNone}},
		{ID: "today", File: "oracle/today.md", Priority: 30, Conditions: []string{signalsAre + SignalsNone}, Noted: true},
		{ID: "found", File: "oracle/found.md", Priority: 31, Conditions: []string{lookedUp}, Noted: true},
		{ID: "signals", File: "oracle/signals.md", Priority: 1, Conditions: []string{signalsAre + SignalsFull}},
		{ID: "signals-tool", File: "oracle/signals-tool.md", Priority: 1,
			Conditions: []string{signalsAre + SignalsTool}},
		{ID: "tools", File: "oracle/tools-reference.md", Priority: 2, Conditions: []string{always}},
		{ID: Instructions, File: "oracle/instructions.md", Priority: 3, Conditions: []string{givenIs + Instructions}},
		{ID: Preset, File: "oracle/preset.md", Priority: 4, Conditions: []string{givenIs + Preset}},
		{ID: Folder, File: "oracle/folder.md", Priority: 5, Conditions: []string{givenIs + Folder}, Noted: true},
		{ID: "code", File: "oracle/code-analysis.md", Priority: 10, Conditions: []string{"query_type=code"},
			Noted: true},
		{ID: "docs", File: "oracle/documentation.md", Priority: 10, Conditions: []string{"query_type=documentation"},
			Noted: true},
		{ID: "research", File: "oracle/research.md", Priority: 10, Conditions: []string{"query_type=research"},
			Noted: true},
		{ID: "conversation", File: "oracle/conversation.md", Priority: 10,
			Conditions: []string{"query_type=conversational"}, Noted: true},
		{ID: "actions", File: "oracle/actions.md", Priority: 10, Conditions: []string{"query_type=action"}, Noted: true},
		{ID: "summarization", File: "oracle/summarization.md", Priority: 20, Conditions: []string{largeContext},
			Noted: true},
		{ID: "error-recovery", File: "oracle/error-recovery.md", Priority: 21, Conditions: []string{hadError},
			Noted: true},
		{ID: "now", File: "oracle/now.md", Priority: 30, Conditions: []string{always}, Noted: true},
		{ID: "closing", File: "oracle/closing.md", Priority: 100, Conditions: []string{always}, Noted: true},
	}
}

// Set holds the segments that prompts are composed from.
type Set struct {
	segments  []Segment
	templates []template // parallel to segments
	encoded   []byte     // the segments as JSON
}

// Load reads the Oracle's segments from fsys: prompts.FS, or an overlay of it. Every file that is missing or unusable
// is named in the error.
func Load(fsys fs.FS) (*Set, error) {
	segments := segmentTable()
	var errs []error
	for i := range segments {
		content, err := readFile(fsys, segments[i].File)
		if err != nil {
			errs = append(errs, err)
		}
		segments[i].Content = content
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return New(segments)
}

func readFile(fsys fs.FS, name string) (string, error) {
	file, err := fsys.Open(name)
	if err != nil {
		return "", fmt.Errorf("%s: cannot open the prompt: %w", name, err)
	}
	defer func() { _ = file.Close() }() // only read: nothing can be lost
	data, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: cannot read the prompt: %w", name, err)
	case len(data) > maxFileBytes:
		return "", fmt.Errorf("%s: longer than %d bytes, which never fits into %d tokens; shorten it",
			name, maxFileBytes, Limit)
	}
	return strings.ReplaceAll(strings.TrimPrefix(string(data), "\ufeff"), "\r\n", "\n"), nil
}

// New makes a set from segments in any order: those of Load, or those that a run journaled. It checks their texts and
// the size of the required ones, and reports everything that is wrong.
func New(segments []Segment) (*Set, error) {
	r := &Set{segments: cloneSegments(segments)}
	slices.SortFunc(r.segments, func(a, b Segment) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), strings.Compare(a.ID, b.ID))
	})
	var errs []error
	for i := range r.segments {
		s := &r.segments[i]
		s.TokenEstimate = agent.Tokens(s.Content)
		parsed, err := newTemplate(s.File, s.Content)
		errs = append(errs, s.check(), err)
		r.templates = append(r.templates, parsed)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if err := r.checkRequired(); err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(r.segments)
	if err != nil {
		return nil, fmt.Errorf("encoding the prompt segments: %w", err)
	}
	r.encoded = encoded
	return r, nil
}

// check says what is wrong with the text of a segment.
func (s Segment) check() error {
	if strings.TrimSpace(s.Content) == "" {
		return fmt.Errorf("%s: the prompt is empty; write it, or remove the file to use the built-in one", s.File)
	}
	if !utf8.ValidString(s.Content) {
		return fmt.Errorf("%s: the prompt is not UTF-8 text; save it as UTF-8", s.File)
	}
	return nil
}

// checkRequired refuses a set whose required segments do not fit even with the shortest values.
func (r *Set) checkRequired() error {
	for _, form := range signalForms() {
		for _, tools := range []string{"", "-"} {
			for _, sources := range []string{"", "-"} {
				v := values{varMaxTurns: "1", varTools: tools, varCallable: tools, varSources: sources,
					varReportTool: map[bool]string{true: "yes"}[keepsTextClean(form)]}
				if _, err := r.fillRequired(v, []string{always, signalsAre + form}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Segments lists the segments in the order of composition. New makes an equal set of them.
func (r *Set) Segments() []Segment { return cloneSegments(r.segments) }

// Content is the text of a segment; empty if there is none of that id.
func (r *Set) Content(id string) string {
	for _, s := range r.segments {
		if s.ID == id {
			return strings.TrimSpace(s.Content)
		}
	}
	return ""
}

// Encoded is the segments as JSON, in which form a run keeps its prompts. It must not be changed. Sets of equal
// segments compose equal prompts.
func (r *Set) Encoded() []byte { return r.encoded }

func cloneSegments(segments []Segment) []Segment {
	copies := slices.Clone(segments)
	for i := range copies {
		copies[i].Conditions = slices.Clone(copies[i].Conditions)
	}
	return copies
}
