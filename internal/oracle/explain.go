package oracle

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/media/document"
	"sibyl/internal/model"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
	"sibyl/internal/text"
	"sibyl/internal/tool"
)

// came says how the run ended. Without a language model nothing was judged: it is told what was found.
func (a *Answer) came() string {
	if a.Model != model.OfflineRules || !slices.Contains([]string{StopSatisfied, StopPartial, StopStuck}, a.StopReason) {
		return a.StopReason
	}
	cited, _ := a.read()
	switch {
	case cited == nil && len(a.Tried) == 0:
		return "nothing searched"
	case cited == nil:
		return "nothing found"
	}
	return "found " + text.Count(len(cited), "place")
}

// done is what was done for the answer, in a line: what came of it, where it was looked, how long it took, and which model answered.
func (a *Answer) done() string {
	var all []string
	if a.StopReason != StopSatisfied || a.Model == model.OfflineRules {
		all = append(all, cmp.Or(map[string]string{StopPartial: "not the whole answer", StopBudget: "stopped by the budget", StopStuck: "got stuck", StopLoop: "stopped in a loop",
			StopNeedsUser: "waits for you", StopError: "failed", StopSuspended: "paused"}[a.came()], a.came()))
	}
	var did []string
	for _, t := range a.Tried {
		where, what := string(t.Source), "place"
		switch t.Source {
		case tool.Code:
			where = "the code"
		case tool.Vault:
			where, what = "the notes", "note"
		case tool.Web:
			where, what = "the web", "page"
		}
		if t.Hits+t.Empty > 0 {
			did = append(did, "searched "+where)
		}
		if t.Opened > 0 {
			did = append(did, "read "+text.Count(t.Opened, what))
		}
	}
	if len(did) > 0 {
		all = append(all, strings.Join(did, ", "))
	}
	all = append(all, agent.Seconds(a.TookMS))
	if a.Model != model.OfflineRules {
		all = append(all, a.Model)
	}
	return strings.Join(all, "; ")
}

// read are the places that were read, those that the answer cites apart.
func (a *Answer) read() (cited, others []string) {
	for _, s := range a.Sources {
		if s.Cited {
			cited = append(cited, s.Cite)
		} else {
			others = append(others, s.Cite)
		}
	}
	return cited, others
}

// usage are the tokens of the models that were asked. The offline rules are none.
func (a *Answer) usage() (all []assistant.Usage) {
	models := a.Models
	if len(models) == 0 {
		models = []agent.ModelUsage{{Model: a.Model, Usage: a.Usage}}
	}
	for _, m := range models {
		if m.InputTokens+m.OutputTokens > 0 && !strings.HasPrefix(m.Model, "offline:") {
			all = append(all, assistant.Usage{Model: m.Model, Input: m.InputTokens, Cached: m.CachedTokens, Output: m.OutputTokens})
		}
	}
	return all
}

// placesOf are the places of an answer. Those that it cites in what was handed over have the text of the part, or of the pages.
func placesOf(ctx context.Context, v *run.View, outcome json.RawMessage) ([]assistant.Place, error) {
	all := places(v.Start(), outcome)
	parts, err := handedParts(ctx, v)
	for i := range all {
		p, paged := &all[i], false
		for _, part := range parts {
			if liesIn(*p, part) {
				p.Text = strings.TrimPrefix(p.Text+"\n"+part.Text, "\n")
				paged = refOf(part).Paged
			}
		}
		if paged {
			p.Start, p.End = 1, len(textLines(p.Text))
		}
	}
	return all, err
}

// handedParts are what was handed over to a run; pictures have no content.
func handedParts(ctx context.Context, v *run.View) ([]document.Part, error) {
	if v.Blob(MaterialText) == "" {
		return nil, nil
	}
	text, err := v.Text(ctx, MaterialText)
	return document.SplitParts(string(text)), err
}

// liesIn says that a place that is cited lies in a part.
func liesIn(p assistant.Place, part document.Part) bool {
	whole := refOf(part)
	cited := tool.Ref{Path: whole.Path, Start: p.Start, End: p.End, Paged: whole.Paged}
	return p.Handed && p.Cited && p.Cite == cited.String() && (!whole.Paged || p.Start <= whole.Start && whole.Start <= max(p.Start, p.End))
}

// places are what was read for an answer and what it cites, with the files below the folders of the run.
func places(start *run.StartRecord, outcome json.RawMessage) (all []assistant.Place) {
	a, err := ReadAnswer(outcome)
	if err != nil {
		return nil
	}
	var env Env
	_ = json.Unmarshal(start.Env, &env) // without it, no place is known to be a file
	roots := map[tool.Source]string{tool.Code: env.CodeRoot, tool.Vault: env.Vault}
	placed := func(ref tool.Ref) assistant.Place {
		p := assistant.Place{Cite: ref.String(), Hash: ref.Hash, Handed: ref.Source == Handed}
		if p.Handed || !document.IsPDFOrDOCX(ref.Path) { // which is no file of lines
			p.Start, p.End = ref.Start, ref.End
		}
		if root := roots[ref.Source]; root != "" && filepath.IsLocal(filepath.FromSlash(ref.Path)) {
			p.File = filepath.Join(root, filepath.FromSlash(ref.Path))
		}
		return p
	}
	quoted := a.citedPlaces()
	for n, c := range quoted {
		p := placed(c.Ref)
		p.Number, p.Cited, p.Read = n+1, true, c.source != nil
		all = append(all, p)
	}
	for i := range a.Sources {
		s := &a.Sources[i]
		if s.Cited && slices.ContainsFunc(quoted, func(c citedPlace) bool { return c.citations[0].leads(s) }) {
			continue // its lines that are cited stand before
		}
		p := placed(s.Ref)
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

func passages(ctx context.Context, v *run.View) (all []assistant.Passage, err error) {
	for _, c := range v.Receipts() {
		r, _ := c.Value.(agent.CallReceipt)
		if p, ok := passageOf(r.Result); ok {
			all = append(all, assistant.Passage{Cite: r.Result.Refs[0].String(), Text: p.fenced()})
		}
	}
	parts, err := handedParts(ctx, v)
	var cited []assistant.Place
	for _, body := range v.Bodies() {
		if end, is := body.(*run.EndRecord); is {
			cited = places(v.Start(), end.Outcome)
		}
	}
	for _, part := range parts {
		if shown := citedIn(part, cited); shown != "" {
			all = append(all, assistant.Passage{Cite: refOf(part).String(), Text: shown})
		}
	}
	return all, err
}

// citedIn is what an answer cites of a part, in Markdown.
func citedIn(part document.Part, cited []assistant.Place) string {
	var shown []string
	for _, p := range cited {
		lines := textLines(part.Text)
		switch whole := refOf(part); {
		case !liesIn(p, part):
			continue
		case part.Type != "":
			return "(a picture)"
		case !whole.Paged:
			lines = lines[min(max(p.Start-1, 0), len(lines)):min(max(p.Start, p.End), len(lines))]
		}
		shown = append(shown, passage{lines: lines}.fenced())
	}
	return strings.Join(shown, "\n\n")
}
