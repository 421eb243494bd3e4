package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
	"sibyl/internal/text/search"
)

// Query finds what contains all its words, whatever their order, case and accents.
type Query struct {
	Words     string
	Assistant string    // "": all
	From, To  time.Time // From is included, To is not; zero: any time
	Limit     int       // 0: 20
	After     string    // Next of the previous Hits
}

// Hits is one page of what was found: first what has the words in its title, then what has them elsewhere; the latest
// first in each.
type Hits struct {
	Hits   []Hit  `json:"hits"`
	Next   string `json:"next,omitempty" doc:"Where the list goes on: for the parameter after. Left out at its end."`
	Behind bool   `json:"behind,omitempty" doc:"Older runs are still to be read: who asks again finds more."`
}

// Hit is a session, run, task or entry of the Council that has the words.
type Hit struct {
	Kind      string        `json:"kind" enum:"session,run,task,council"`
	Assistant string        `json:"assistant"`
	Session   string        `json:"session_id,omitempty" doc:"The session of runs, or of the Council."`
	Run       string        `json:"run,omitempty" doc:"The run that has them."`
	Entry     string        `json:"entry,omitempty" doc:"In a session of the Council: t1 is transcript 1, r2 answer 2."`
	Task      int64         `json:"task,omitempty" doc:"The id of the task."`
	Title     []search.Span `json:"title"`
	Excerpt   []search.Span `json:"excerpt" doc:"The place with some words around it. Empty: the title has them all."`
	At        time.Time     `json:"at" doc:"When the session was last used, the run began, the task was added, the words were said."`

	Name  string `json:"-"` // the whole title
	Words string `json:"-"` // the text that Excerpt is from; for a run, read only when it is needed
}

// cursor gives the place of a hit in its list: that of titles, or the other.
func (h Hit) cursor() journal.Cursor {
	id := cmp.Or(h.Run, h.Session)
	switch {
	case h.Task != 0:
		id = strconv.FormatInt(h.Task, 10)
	case h.Entry != "":
		id += " " + h.Entry
	}
	return journal.Cursor{At: journal.Millis(h.At), ID: id}
}

// Finder finds what no run holds, such as tasks.
type Finder struct {
	Assistant string // the assistant of all its hits
	// Find gives what has all terms in its title, or, if titles is false, only elsewhere: nothing is in both.
	Find func(ctx context.Context, owner journal.Owner, has func(text string) bool, titles bool) ([]Hit, error)
}

const (
	usualHits     = 20
	excerptSize   = 160              // characters
	mostIndexed   = 128 << 10        // bytes of the words of a run that are indexed
	indexedAtOnce = 100              // sessions and runs that are indexed in one transaction
	indexingTime  = 2 * time.Second  // for indexing new sessions and runs
	findingTime   = 20 * time.Second // for the whole search
)

// Find searches an owner's titles, ended runs and what Finders find; first it indexes new runs, for some seconds at
// most.
func (s *Service) Find(ctx context.Context, owner journal.Owner, q Query) (found Hits, err error) {
	terms := search.Terms(q.Words)
	if len(terms) == 0 {
		return found, asUsageError(&assistant.RequestError{Why: nothingToFind.With(), Hint: "say which words"})
	}
	inTitles, after, err := parsePlace(q.After)
	if err != nil {
		return found, asUsageError(&assistant.RequestError{Why: bt.Because("this is no place in a list"),
			Hint: "take next of the part of the list before, as it is", Err: err})
	}
	ctx, cut := context.WithTimeout(ctx, findingTime)
	defer cut()
	if found.Behind, err = s.indexUnread(ctx, owner); err != nil {
		return found, err
	}
	limit := q.Limit
	if limit <= 0 {
		limit = usualHits
	}
	var all []Hit
	titleHits := 0
	if inTitles {
		all, err = s.findHits(ctx, owner, q, terms, true, after, limit+1)
		titleHits, after = len(all), journal.Cursor{}
	}
	if err == nil && len(all) <= limit {
		var more []Hit
		more, err = s.findHits(ctx, owner, q, terms, false, after, limit+1-len(all))
		all = append(all, more...)
	}
	if err != nil {
		return found, err
	}
	if len(all) > limit {
		all = all[:limit]
		found.Next = formatPlace(limit <= titleHits, all[limit-1].cursor())
	}
	found.Hits, err = s.withExcerpts(ctx, owner, all, terms)
	return found, err
}

// formatPlace encodes the place after a hit in the titles or elsewhere; parsePlace reads it, and "" as the beginning.
func formatPlace(inTitles bool, c journal.Cursor) string {
	if inTitles {
		return "t" + c.String()
	}
	return "w" + c.String()
}

func parsePlace(text string) (inTitles bool, after journal.Cursor, err error) {
	if text == "" {
		return true, after, nil
	}
	after, err = journal.ParseCursor(text[1:])
	if kind := text[:1]; err == nil && (kind != "t" && kind != "w" || after.IsZero()) {
		err = fmt.Errorf("%q: %w", text, journal.ErrInvalid)
	}
	return text[:1] == "t", after, err
}

// findHits gives at most most hits after a place, either in titles or elsewhere, the latest first, without excerpts.
func (s *Service) findHits(
	ctx context.Context, owner journal.Owner, q Query, terms []string, titles bool, after journal.Cursor, most int,
) ([]Hit, error) {
	rows, err := s.config.Store.Find(ctx, owner, journal.Search{
		Words: terms, Titles: titles, Assistant: q.Assistant, From: q.From, To: q.To, After: after, Limit: most})
	if err != nil {
		return nil, err
	}
	var all []Hit
	for _, r := range rows {
		one := Hit{Kind: "session", Assistant: r.Assistant, Session: r.Session, Run: r.Run, Name: r.Title, At: r.At}
		if r.Run != "" {
			one.Kind = "run"
		}
		all = append(all, one)
	}
	has := func(text string) bool { return search.HasAll(search.Folded(text), terms) }
	for _, finder := range s.config.Finders {
		if q.Assistant != "" && q.Assistant != finder.Assistant {
			continue
		}
		some, err := finder.Find(ctx, owner, has, titles)
		if err != nil {
			return nil, err
		}
		for _, one := range some {
			one.At = journal.Millis(one.At)
			isBeforePlace := !after.IsZero() && one.cursor().Compare(after) >= 0
			if !isBeforePlace && !one.At.Before(q.From) && (q.To.IsZero() || one.At.Before(q.To)) {
				all = append(all, one)
			}
		}
	}
	slices.SortFunc(all, func(a, b Hit) int { return b.cursor().Compare(a.cursor()) })
	return all[:min(len(all), most)], nil
}

// withExcerpts fills in the title and excerpt of hits, and leaves out runs that were removed meanwhile.
func (s *Service) withExcerpts(ctx context.Context, owner journal.Owner, all []Hit, terms []string) ([]Hit, error) {
	shown := make([]Hit, 0, len(all))
	for _, one := range all {
		if one.Run != "" {
			words, err := s.wordsOf(ctx, owner, journal.Found{Run: one.Run, Assistant: one.Assistant, Title: one.Name})
			if errors.Is(err, journal.ErrNotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			one.Words = words
		}
		one.Title = search.Excerpt(one.Name, terms, 2*excerptSize)
		if one.Words != "" {
			one.Excerpt = search.Excerpt(one.Words, terms, excerptSize)
		}
		shown = append(shown, one)
	}
	return shown, nil
}

// indexUnread indexes sessions and ended runs that are not indexed yet, the latest first. behind says that some remain:
// time ran out, or the store can't be written to.
func (s *Service) indexUnread(ctx context.Context, owner journal.Owner) (behind bool, err error) {
	until := time.Now().Add(indexingTime)
	for {
		unread, err := s.config.Store.Unread(ctx, owner, indexedAtOnce)
		if err != nil || len(unread) == 0 {
			return false, err
		}
		var all []journal.Wording
		for _, f := range unread {
			words, err := s.wordsOf(ctx, owner, f)
			if errors.Is(err, journal.ErrNotFound) { // it was removed meanwhile
				continue
			}
			if err != nil {
				return false, err
			}
			words = words[:min(len(words), mostIndexed)]
			all = append(all, journal.Wording{Found: f, Words: search.Folded(words)})
		}
		err = s.config.Store.KeepWords(ctx, owner, all)
		if journal.CannotWrite(err) {
			return true, nil
		}
		if err != nil || len(unread) < indexedAtOnce {
			return false, err
		}
		if time.Now().After(until) {
			return true, nil
		}
	}
}

// wordsOf gives the text by which a session or ended run is found: its title if it can't be read; none of companions
// and of assistants that store their sessions themselves.
func (s *Service) wordsOf(ctx context.Context, owner journal.Owner, f journal.Found) (string, error) {
	a := s.byName[f.Assistant]
	switch {
	case a != nil && (a.Companion || a.StoresSessions):
		return "", nil
	case a == nil || f.Run == "":
		return f.Title, nil
	}
	end, err := run.ReadEnd(ctx, s.config.Store, owner, f.Run)
	if errors.Is(err, journal.ErrCorrupt) {
		return f.Title, nil
	}
	if err != nil {
		return "", err
	}
	words := func(outcome []byte) (string, error) {
		shown, err := a.Show(outcome)
		return shown.Question + "\n" + shown.Answer, err
	}
	if a.Words != nil {
		words = a.Words
	}
	if text, err := words(end.Outcome); err == nil && strings.TrimSpace(text) != "" {
		return text, nil
	}
	return f.Title, nil
}
