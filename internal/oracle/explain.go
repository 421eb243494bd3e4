package oracle

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/assistant"
	"sibyl/internal/document"
	"sibyl/internal/model"
	"sibyl/internal/run"
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

// places are what was read for an answer and what it cites, with the files below the folders of the run.
func places(start *run.StartRecord, outcome json.RawMessage) (all []assistant.Place) {
	a, err := ReadAnswer(outcome)
	if err != nil {
		return nil
	}
	var env Env
	_ = json.Unmarshal(start.Env, &env) // without it, no place is known to be a file
	roots := map[tool.Source]string{tool.Code: env.CodeRoot, tool.Vault: env.Vault}
	for _, s := range a.Sources {
		p := assistant.Place{Cite: s.Cite, Hash: s.Hash, Read: true, Cited: s.Cited}
		if !document.IsPDFOrDOCX(s.Path) { // which is no file of lines
			p.Start, p.End = s.Start, s.End
		}
		if root := roots[s.Source]; root != "" && filepath.IsLocal(filepath.FromSlash(s.Path)) {
			p.File = filepath.Join(root, filepath.FromSlash(s.Path))
		}
		all = append(all, p)
	}
	for _, u := range a.Unsupported {
		all = append(all, assistant.Place{Cite: u, Cited: true})
	}
	return all
}

func passages(v *run.View) (all []assistant.Passage) {
	for _, c := range v.Receipts() {
		r, _ := c.Value.(agent.CallReceipt)
		if p, ok := passageOf(r.Result); ok {
			all = append(all, assistant.Passage{Cite: r.Result.Refs[0].String(), Text: p.fenced()})
		}
	}
	return all
}
