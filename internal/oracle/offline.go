package oracle

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/model"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/tool"
)

// OfflineRule answers the Oracle's turns without a language model: it searches with the words of the question, reads the
// best places, and quotes the passages in which most of these words meet. It says that no model is in use, and its signals
// are honest: it never claims more than it quotes.
func OfflineRule(ctx context.Context, req model.Request) (model.Response, error) {
	sit, err := situationFor(req)
	if err != nil {
		return model.Response{}, err
	}
	o := offline{sit: sit, terms: classify.Terms(sit.Question), earlier: continued(sit.Question, req.Messages)}
	for _, m := range o.mended() {
		if i := slices.IndexFunc(o.terms, func(t string) bool { return strings.EqualFold(t, m.Word) }); i >= 0 {
			o.terms[i] = m.As
		}
	}
	if sit.Material != nil {
		if o.material, err = sit.Material(ctx); err != nil {
			return model.Response{}, err
		}
	}
	return o.turn(), nil
}

func situationFor(req model.Request) (Situation, error) {
	sit, ok := req.Facts.(Situation)
	if !ok {
		return sit, &model.Error{Kind: model.Invalid, Model: "offline", Message: fmt.Sprintf("the Oracle's rule got facts of type %T", req.Facts)}
	}
	return sit, nil
}

// OfflineNotes takes notes without a language model: what was searched and read, and what came of it.
func OfflineNotes(_ context.Context, req model.Request) (model.Response, error) {
	sit, err := situationFor(req)
	if err != nil {
		return model.Response{}, err
	}
	b := &strings.Builder{}
	b.WriteString("Question: " + sit.Question + "\n")
	for _, s := range sit.Steps {
		fmt.Fprintf(b, "- %s %s: ", s.Call.Name, agent.Brief(s.Call.Arguments, 120))
		switch {
		case s.Refused != "":
			b.WriteString("not performed, " + s.Refused)
		case s.Receipt.Error != nil:
			b.WriteString("failed, " + s.Receipt.Error.Message)
		case s.Receipt.Result == nil || s.Receipt.Result.Items == 0:
			b.WriteString("nothing")
		}
		if r := s.Receipt.Result; r != nil {
			for i, ref := range r.Refs {
				if i == mostQuotes {
					fmt.Fprintf(b, " and %d more", len(r.Refs)-i)
					break
				}
				b.WriteString(" " + ref.String())
			}
		}
		b.WriteByte('\n')
	}
	return model.Response{Text: b.String(), Finish: model.FinishStop}, nil
}

// offline is one turn of the rule.
type offline struct {
	sit      Situation
	terms    []string // words of the question
	material string   // that was handed over
	earlier  string   // the question that this one continues; "" if it stands by itself
}

// mended is a word of the question that is in no file, and the word that a search read it as.
type mended struct {
	Word string `json:"word"`
	As   string `json:"as"`
}

// mended are the words that searches read as others.
func (o offline) mended() (all []mended) {
	for _, s := range o.sit.Steps {
		var data struct {
			Mended []mended `json:"mended"`
		}
		if s.Receipt.Result != nil && json.Unmarshal(s.Receipt.Result.Data, &data) == nil {
			all = append(all, data.Mended...)
		}
	}
	return all
}

// continued is the question before, where this one can't be searched for without it: "and how do I make it longer?"
func continued(question string, messages []model.Message) string {
	at := slices.IndexFunc(messages, func(m model.Message) bool { return m.Role == model.User && m.Text == question })
	for i := at - 1; i >= 0; i-- {
		if messages[i].Role == model.User {
			if classify.Continues(question) {
				return messages[i].Text
			}
			break
		}
	}
	return ""
}

const (
	mostQuotes  = 5   // places opened after a search, and passages in an answer
	wholeLines  = 40  // lines of a definition that is shown whole
	quoteLines  = 14  // lines of the window that is shown of a longer one
	readContext = 300 // lines opened at most around a hit
)

func (o offline) turn() model.Response {
	if o.sit.Class == string(classify.Action) && !(o.sit.Unsure && o.searchable()) {
		return say(noWriting, sig("partial_answer", 0.9, field("missing", writer)))
	}
	if o.material != "" {
		return o.ofMaterial()
	}
	if r, ok := o.intended(); ok {
		return r
	}
	hits, quotes := o.hits(), o.quotes()
	if !o.sit.Final {
		if len(quotes) == 0 && len(hits) > 0 && !o.opened() {
			return o.callAll(hits)
		}
		if len(quotes) == 0 {
			if calls := o.searches(); calls != nil {
				return o.propose(calls, "searching for "+strings.Join(o.terms, ", "))
			}
		}
	}
	switch {
	case len(quotes) > 0 && !o.beside(quotes):
		return o.answer(quotes)
	case o.sit.Class == string(classify.Conversational) && len(o.sit.Steps) == 0:
		return say(noModel+" I didn't search: this doesn't look like a question about your code or your notes.",
			sig("context_sufficient", 0.5, field("sources_found", "0")))
	case len(o.sit.Steps) > 0 && !o.sit.Final:
		return model.Response{Text: sig("stuck", 0.8, list("attempted", o.attempted()), field("blocker", "no search found the question's words")), Finish: model.FinishStop}
	}
	return o.nothing()
}

// What is said where a change may be wished for, and what lacks for it.
const (
	noWriting = "I can't write notes without a model; nothing changed."
	writer    = "a language model that can carry out the request"
)

// searchable says whether anything that is offered can be searched.
func (o offline) searchable() bool {
	return slices.ContainsFunc(o.sit.Tools, func(t tool.Spec) bool { return t.Search && takesQuery(t.Schema) })
}

const noModel = "No language model is in use."

// readerOf names the tool that opens a hit of a source.
var readerOf = map[tool.Source]string{tool.Code: "code_read", tool.Vault: "vault_read", tool.Web: "web_fetch"}

// opened says whether places that a search named were asked for.
func (o offline) opened() bool {
	searched := false
	for _, s := range o.sit.Steps {
		searched = searched || o.isSearch(s.Call.Name)
		if searched && slices.Contains(slices.Collect(maps.Values(readerOf)), s.Call.Name) {
			return true
		}
	}
	return false
}

func (o offline) isSearch(name string) bool {
	return slices.ContainsFunc(o.sit.Tools, func(t tool.Spec) bool { return t.Name == name && t.Search && takesQuery(t.Schema) })
}

// searches proposes every search tool that is offered and was not tried; those of sources that come later only where no other is left.
func (o offline) searches() (calls []model.ToolCall) {
	for _, later := range []bool{false, true} {
		for _, spec := range o.sit.Tools {
			if !spec.Search || !takesQuery(spec.Schema) || len(o.terms) == 0 || slices.Contains(o.sit.Later, spec.Source) != later ||
				slices.ContainsFunc(o.sit.Steps, func(s Step) bool { return s.Call.Name == spec.Name && !foundNothingWithin(s) }) {
				continue
			}
			calls = append(calls, o.call(len(calls), spec.Name, query{strings.TrimSpace(o.sit.Question + " " + o.earlier)}))
		}
		if calls != nil {
			break
		}
	}
	return calls
}

// foundNothingWithin says of a search that it was of one file, and in vain.
func foundNothingWithin(s Step) bool {
	var args struct {
		Path string `json:"path"`
	}
	return json.Unmarshal([]byte(s.Call.Arguments), &args) == nil && args.Path != "" && (s.Receipt.Result == nil || s.Receipt.Result.Items == 0)
}

// takesQuery says whether a tool is searched with words, and not with a name that the rule would have to know.
func takesQuery(schema json.RawMessage) bool {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	return json.Unmarshal(schema, &s) == nil && s.Properties["query"] != nil
}

func (o offline) call(n int, name string, args any) model.ToolCall {
	raw, err := json.Marshal(args)
	if err != nil {
		raw = []byte("{}") // plain structs of strings and ints always encode
	}
	return model.ToolCall{ID: fmt.Sprintf("call_%d_%d", len(o.sit.Steps)+1, n+1), Name: name, Arguments: string(raw)}
}

func (o offline) propose(calls []model.ToolCall, reason string) model.Response {
	return model.Response{ToolCalls: calls, Finish: model.FinishTools,
		Text: sig("need_turn", 0.8, field("reason", reason), field("expected_turns", "1"))}
}

// hit is a place that a search named.
type hit struct {
	source     tool.Source
	list, rank int     // which search named it, and where
	fit        float64 // of the best hit of that search; 0 where it does not say
	Path       string  `json:"path"`
	URL        string  `json:"url"`
	Title      string  `json:"title"`
	Symbol     string  `json:"symbol"`
	Kind       string  `json:"kind"`
	Line       int     `json:"line"`
	Start      int     `json:"start"`
	End        int     `json:"end"`
	Own        int     `json:"own"`  // where the symbol begins, its neighbours standing above it; 0: at Start
	From       int     `json:"from"` // of a long definition, the lines that say most; 0: all of it is to be read
	To         int     `json:"to"`
}

// hits gathers what the searches found, best first, those of several searches in turn.
func (o offline) hits() []hit {
	var lists [][]hit
	for _, s := range o.sit.Steps {
		if s.Receipt.Result == nil || s.Receipt.Result.Items == 0 {
			continue
		}
		var data struct {
			Hits    []hit   `json:"hits"`
			Results []hit   `json:"results"`
			Fit     float64 `json:"fit"`
		}
		if json.Unmarshal(s.Receipt.Result.Data, &data) != nil || len(s.Receipt.Result.Refs) == 0 {
			continue
		}
		found := append(data.Hits, data.Results...)
		for i := range found {
			found[i].source, found[i].list, found[i].rank = s.Receipt.Result.Refs[0].Source, len(lists), i
			found[i].fit = data.Fit
		}
		if len(found) > 0 && !s.Receipt.Result.Refs[0].Opened {
			lists = append(lists, found)
		}
	}
	var all []hit
	for rank, more := 0, true; more; rank++ {
		more = false
		for _, l := range lists {
			if rank < len(l) {
				all, more = append(all, l[rank]), true
			}
		}
	}
	// What names no lines is a whole file, of which the words may stand in no one place.
	slices.SortStableFunc(all, func(a, b hit) int { return cmp.Compare(wholeFile(a), wholeFile(b)) })
	return all
}

func wholeFile(h hit) int {
	if h.URL == "" && h.Start == 0 {
		return 1
	}
	return 0
}

// callAll opens the best hits that do not overlap.
func (o offline) callAll(hits []hit) model.Response {
	var calls []model.ToolCall
	var taken []hit
	for _, h := range hits {
		overlaps := slices.ContainsFunc(taken, func(t hit) bool {
			return t.Path == h.Path && t.URL == h.URL && h.Start <= t.End && t.Start <= h.End
		})
		if overlaps {
			continue
		}
		taken = append(taken, h)
		name := readerOf[h.source]
		if h.source == tool.Web {
			calls = append(calls, o.call(len(calls), name, struct {
				URL string `json:"url"`
			}{h.URL}))
		} else {
			start, end := around(h)
			calls = append(calls, o.call(len(calls), name, struct {
				Path  string `json:"path"`
				Start int    `json:"start,omitempty"`
				End   int    `json:"end,omitempty"`
			}{h.Path, start, end}))
		}
		if len(calls) == mostQuotes {
			break
		}
	}
	return o.propose(calls, "reading the best places found")
}

// around is the hit's own span, or as much of it as is read at once around its line.
func around(h hit) (start, end int) {
	start, end = h.Start, h.End
	if end-start < readContext {
		return start, end
	}
	start = max(h.Start, cmp.Or(h.From, h.Line)-readContext/2)
	return start, min(h.End, start+readContext-1)
}

// called names the tools that were called, each once, as far as their receipts are wanted.
func (o offline) called(wanted func(agent.CallReceipt) bool) (names []string) {
	for _, s := range o.sit.Steps {
		if wanted(s.Receipt) && !slices.Contains(names, s.Call.Name) {
			names = append(names, s.Call.Name)
		}
	}
	return names
}

func (o offline) attempted() []string {
	return o.called(func(agent.CallReceipt) bool { return true })
}

func (o offline) nothing() model.Response {
	text := noModel + " I found nothing about that."
	missing := "a place that contains the question's words"
	switch {
	case o.sit.Class == string(classify.Research) && len(o.sit.Steps) == 0:
		text = noModel + " The question needs the web, and no web search is connected. `sibyl doctor` says how to add one."
		missing = "a web search"
	case len(o.terms) == 0:
		text = noModel + " The question has no words that I could search for."
		missing = "a word to search for"
	case len(o.sit.Steps) == 0 && o.sit.Final:
		text = noModel + " There were no turns left for searching."
		missing = "turns to search and read"
	case len(o.sit.Steps) == 0:
		text = noModel + " There is no source that I could search."
		missing = "a source to search"
	default:
		if tried := o.called(func(r agent.CallReceipt) bool { return r.Result != nil }); tried != nil {
			text += " I searched with " + strings.Join(tried, ", ") + " for: " + strings.Join(o.terms, ", ") + "."
		}
		text += o.failures()
	}
	return say(text, sig("partial_answer", 0.8, field("missing", missing)))
}

// failures says which tools gave nothing because they failed.
func (o offline) failures() string {
	b := &strings.Builder{}
	for _, s := range o.sit.Steps {
		if s.Receipt.Error != nil {
			fmt.Fprintf(b, " %s failed: %s.", s.Call.Name, s.Receipt.Error.Message)
		}
	}
	return b.String()
}

func say(text, signal string) model.Response {
	return model.Response{Text: text + "\n" + signal, Finish: model.FinishStop}
}
