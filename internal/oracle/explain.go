package oracle

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/media/document"
	"sibyl/internal/model"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
	"sibyl/internal/text"
	"sibyl/internal/tool"
)

// endingPhrase says how the run ended. Without a language model nothing was judged, so it says what was found.
func (a *Answer) endingPhrase() string {
	if !a.endedByRules() {
		return a.StopReason
	}
	cited, _ := a.placesRead()
	switch {
	case cited == nil && len(a.Tried) == 0:
		return "nothing searched"
	case cited == nil:
		return "nothing found"
	}
	return "found " + text.Count(len(cited), "place")
}

// endedByRules says whether the run came to its end without a model: then the ending is what was found.
func (a *Answer) endedByRules() bool {
	return a.Model == model.OfflineRules && slices.Contains([]string{StopSatisfied, StopPartial, StopStuck}, a.StopReason)
}

// workOn are the phrases for what was done with a source.
var workOn = map[tool.Source]struct{ searched, readOne, readMany string }{
	tool.Code:  {"searched the code", "read 1 place", "read %d places"},
	tool.Vault: {"searched the notes", "read 1 note", "read %d notes"},
	tool.Web:   {"searched the web", "read 1 page", "read %d pages"},
}

// work says how the run ended, what was searched, how long it took, and which model answered: clauses of phrases.
func (a *Answer) work() (all []assistant.Clause) {
	say := func(format string, values ...any) {
		all = append(all, assistant.Clause{{Format: format, Values: values}})
	}
	if a.StopReason != StopSatisfied || a.Model == model.OfflineRules {
		all = append(all, assistant.Clause{a.endingWords()})
	}
	var did assistant.Clause
	for _, t := range a.Tried {
		if words, known := workOn[t.Source]; t.Hits+t.Empty > 0 && known {
			did = append(did, assistant.Phrase{Format: words.searched})
		} else if t.Hits+t.Empty > 0 {
			did = append(did, assistant.Phrase{Format: "searched %s", Values: []any{t.Source}})
		}
		if words := cmp.Or(workOn[t.Source], workOn[tool.Code]); t.Opened > 0 {
			did = append(did, assistant.Counted(t.Opened, words.readOne, words.readMany))
		}
	}
	if len(did) > 0 {
		all = append(all, did)
	}
	if basis := a.basis(); basis != "" {
		say(basis)
	}
	say("%s", agent.Seconds(a.TookMS))
	if a.Model != model.OfflineRules {
		say("%s", a.Model)
	}
	return all
}

// endingWords say in a few words how the run ended.
func (a *Answer) endingWords() assistant.Phrase {
	if cited, _ := a.placesRead(); cited != nil && a.endedByRules() {
		return assistant.Counted(len(cited), "found 1 place", "found %d places")
	}
	return assistant.Phrase{Format: cmp.Or(map[string]string{StopPartial: "not the whole answer",
		StopBudget: "stopped by the budget", StopStuck: "got stuck", StopLoop: "stopped in a loop",
		StopNeedsUser: "waits for you", StopError: "failed",
		StopSuspended: "paused"}[a.endingPhrase()], a.endingPhrase())}
}

// basis says what a model's answer rests on where it rests on no place that was read, except for small talk.
func (a *Answer) basis() string {
	all := agent.Total(a.Tried)
	switch {
	case a.Model == model.OfflineRules || a.Answer == "" || a.StopReason == StopNeedsUser:
	case all.Opened > 0 && a.LookedUp && !a.cites():
		return "from none of these"
	case all.Opened > 0:
	case all.Hits > 0:
		return "from search results"
	case all.Listed > 0:
		return "from a list"
	case all.Partly > 0:
		return "nothing found in what was searched"
	case all.Empty > 0:
		return "nothing found"
	case (a.Writes == nil || a.Writes.Done == 0) && len(a.Files) == 0 && a.QueryType != string(classify.Conversational):
		return "from the model's knowledge"
	}
	return ""
}

// placesRead are the places that were read: those that the answer cites, and the others.
func (a *Answer) placesRead() (cited, others []string) {
	for _, s := range a.Sources {
		if s.Cited {
			cited = append(cited, s.Cite)
		} else {
			others = append(others, s.Cite)
		}
	}
	return cited, others
}

// usage is the token usage of each model. The offline rules are not a model.
func (a *Answer) usage() (all []assistant.Usage) {
	models := a.Models
	if len(models) == 0 {
		models = []agent.ModelUsage{{Model: a.Model, Usage: a.Usage}}
	}
	for _, m := range models {
		if m.InputTokens+m.OutputTokens > 0 && !strings.HasPrefix(m.Model, "offline:") {
			all = append(all, assistant.Usage{Model: m.Model, Input: m.InputTokens, Cached: m.CachedTokens,
				Output: m.OutputTokens})
		}
	}
	return all
}

// shownPlaces are the places that an answer cites or that were read for it, with their files on this machine.
func shownPlaces(start *run.StartRecord, outcome json.RawMessage) (all []assistant.Place) {
	a, err := ReadAnswer(outcome)
	if err != nil {
		return nil
	}
	var env Env
	_ = json.Unmarshal(start.Env, &env) // without it, no place is known to be a file
	roots := map[tool.Source]string{tool.Code: env.CodeRoot, tool.Vault: env.Vault}
	placeOf := func(ref tool.Ref) assistant.Place {
		p := assistant.Place{Cite: ref.String(), Hash: ref.Hash, Handed: ref.Source == Handed}
		if !document.IsPDFOrDOCX(ref.Path) { // which have no lines
			p.Start, p.End = ref.Start, ref.End
		}
		if root := roots[ref.Source]; root != "" && filepath.IsLocal(filepath.FromSlash(ref.Path)) {
			p.File = filepath.Join(root, filepath.FromSlash(ref.Path))
		}
		return p
	}
	quoted := a.citedPlaces()
	for n, c := range quoted {
		p := placeOf(c.Ref)
		p.Number, p.Cited, p.Read = n+1, true, c.source != nil
		all = append(all, p)
	}
	for i := range a.Sources {
		s := &a.Sources[i]
		if s.Cited && slices.ContainsFunc(quoted, func(c citedPlace) bool { return c.citations[0].matches(s) }) {
			continue // its cited lines are in the list already
		}
		p := placeOf(s.Ref)
		p.Cite, p.Read, p.Cited = s.Cite, true, s.Cited
		all = append(all, p)
	}
	return all
}

// shownCitations are the citations in the answer, with their numbers.
func (a *Answer) shownCitations() (all []assistant.Citation) {
	for n, place := range a.citedPlaces() {
		for _, c := range place.citations {
			all = append(all, assistant.Citation{Text: c.text, Number: n + 1, Read: place.source != nil})
		}
	}
	return all
}

// shownPassages are the texts that a run opened, each page of a document also alone, and what was handed over.
func shownPassages(ctx context.Context, v *run.View) (all []assistant.Passage, err error) {
	for _, c := range v.Receipts() {
		r, _ := c.Value.(agent.CallReceipt)
		p, ok := passageFrom(r.Result)
		if !ok {
			continue
		}
		one := assistant.Passage{Cite: r.Result.Refs[0].String(), Name: cmp.Or(p.path, p.url), From: p.from,
			Lines: p.lines}
		if p.paged {
			one.From = 0
			all = append(all, pagePassages(p, r.Result.Text)...)
		}
		all = append(all, one)
	}
	var env Env
	_ = v.ReadStart(&env, &Given{}) // it was given at the start, or nothing is shown again
	parts, err := materialParts(ctx, v, MaterialText)
	for _, id := range env.Attached {
		again, readErr := materialParts(ctx, v, earlierMaterialName(id))
		parts, err = append(parts, again...), cmp.Or(err, readErr)
	}
	for _, part := range parts {
		if part.Type != "" || part.IsBlank() { // they have no lines
			continue
		}
		one := assistant.Passage{Cite: refOfPart(part).String(), Name: part.Name, From: 1,
			Lines: document.Lines(part.Text)}
		if refOfPart(part).Paged {
			one.From = 0
		}
		all = append(all, one)
	}
	return all, err
}

// materialParts are the parts of a material that a run keeps under a name; pictures have no content.
func materialParts(ctx context.Context, v *run.View, name string) ([]document.Part, error) {
	if v.Blob(name) == "" {
		return nil, nil
	}
	text, err := v.Text(ctx, name)
	return document.SplitParts(string(text)), err
}

// pagePassages splits a passage of several pages. In shown, the lines of a page are indented below the line that names
// it.
func pagePassages(p passage, shown string) (all []assistant.Passage) {
	if p.from == p.to {
		return nil
	}
	for page := p.from; page <= p.to; page++ {
		cite := tool.Ref{Path: p.path, Start: page, Paged: true}.String()
		_, text, found := strings.Cut("\n"+shown, fmt.Sprintf("\nPage %d, cited as %s\n", page, cite))
		if !found {
			continue
		}
		one := assistant.Passage{Cite: cite, Name: p.path}
		for line := range strings.SplitSeq(text, "\n") {
			words, isSetIn := strings.CutPrefix(line, "    ")
			if !isSetIn {
				break
			}
			one.Lines = append(one.Lines, words)
		}
		all = append(all, one)
	}
	return all
}
