package oracle

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"

	"sibyl/internal/agent"
	"sibyl/internal/model"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/text"
	"sibyl/internal/text/language"
	"sibyl/internal/text/search"
	"sibyl/internal/tool"
)

// OfflineRule answers the Oracle's turns without a language model: it searches with the words of the question, opens
// the best places, lists them and quotes the first. It claims nothing of them, and says that no model is in use.
func OfflineRule(_ context.Context, req model.Request) (model.Response, error) {
	sit, err := situationFor(req)
	if err != nil {
		return model.Response{}, err
	}
	o := offline{sit: sit, terms: classify.Terms(sit.Question), earlier: continued(sit.Question, req.Messages)}
	return o.turn(), nil
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
		fmt.Fprintf(b, "- %s %s:", s.Call.Name, text.Brief(s.Call.Arguments, 120))
		r := s.Receipt.Result
		if r == nil || r.Items == 0 {
			b.WriteString(" nothing\n")
			continue
		}
		for _, ref := range r.Refs[:min(len(r.Refs), mostPlaces)] {
			b.WriteString(" " + ref.String())
		}
		b.WriteByte('\n')
	}
	return model.Response{Text: b.String(), Finish: model.FinishStop}, nil
}

func situationFor(req model.Request) (Situation, error) {
	sit, ok := req.Facts.(Situation)
	if !ok {
		return sit, &model.Error{Kind: model.Invalid, Model: "offline",
			Message: fmt.Sprintf("the Oracle's rule got facts of type %T", req.Facts)}
	}
	return sit, nil
}

// offline is one turn of the rule.
type offline struct {
	sit     Situation
	terms   []string // words of the question
	earlier string   // the question that this one continues; "" if it stands by itself
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
	mostPlaces  = 5   // opened after a search, and listed in an answer
	readContext = 300 // lines opened at most around a hit
)

func (o offline) turn() model.Response {
	if o.sit.Class == string(classify.Action) && !(o.sit.Unsure && o.searchable()) {
		return say(o.says("no_writing", "to_have_one"), sig("partial_answer", 0.9, field("missing", o.says("writer"))))
	}
	if len(o.sit.Material) > 0 {
		return o.ofMaterial()
	}
	places := o.places()
	if !o.sit.Final && len(places) == 0 {
		if hits := o.hits(); len(hits) > 0 && !o.opened() {
			return o.open(hits)
		}
		if calls := o.searches(); calls != nil {
			return o.propose(calls, "searching for "+strings.Join(o.terms, ", "))
		}
	}
	switch {
	case len(places) > 0:
		return o.answer(places)
	case o.sit.Class == string(classify.Conversational) && len(o.sit.Steps) == 0:
		return say(hello(o.sit.Question), sig("context_sufficient", 0.5, field("sources_found", "0")))
	case len(o.sit.Steps) > 0 && !o.sit.Final:
		stuck := sig("stuck", 0.8, list("attempted", o.called()),
			field("blocker", "no search found the question's words"))
		return model.Response{Text: stuck, Finish: model.FinishStop}
	}
	return o.nothing()
}

// fewLetters are so few that they are of any language, as “hi” is.
const fewLetters = 4

// hello answers small talk, and who asks what this is, in their language as far as it can be told.
func hello(question string) string { return phrases()[spokenIn(question)]["hello"] }

// spokenIn is the language of a question, or else of the one before.
func spokenIn(question string, earlier ...string) string {
	if len(question) > fewLetters {
		return cmp.Or(language.Of(question), language.Of(earlier...), "en")
	}
	return cmp.Or(language.Of(earlier...), "en")
}

//go:embed offline_words.json
var phrasesText string

// phrases are what is said without a model, by language and what they are for; of some languages there is the hello
// alone.
var phrases = sync.OnceValue(func() (all map[string]map[string]string) {
	if err := json.Unmarshal([]byte(phrasesText), &all); err != nil {
		panic(err) // the file is ours, and a test reads it
	}
	return all
})

// says are phrases in the language of the question, with blanks between.
func (o offline) says(which ...string) string {
	own := phrases()[spokenIn(o.sit.Question, o.earlier)]
	said := make([]string, len(which))
	for i, one := range which {
		said[i] = cmp.Or(own[one], phrases()["en"][one])
	}
	return strings.Join(said, " ")
}

// readerOf names the tool that opens a hit of a source.
var readerOf = map[tool.Source]string{tool.Code: "code_read", tool.Vault: "vault_read", tool.Web: "web_fetch"}

// opened says whether places that a search named were asked for.
func (o offline) opened() bool {
	searched := false
	for _, s := range o.sit.Steps {
		switch s.Call.Name {
		case readerOf[tool.Code], readerOf[tool.Vault], readerOf[tool.Web]:
			if searched {
				return true
			}
		default:
			searched = true
		}
	}
	return false
}

// named is the file that a question names with its folder; "" for none, or where code can't be read.
func (o offline) named() string {
	if !o.offers(readerOf[tool.Code]) {
		return ""
	}
	for _, t := range o.terms {
		if strings.Contains(t, "/") && path.Ext(t) != "" && !strings.Contains(t, "://") {
			return t
		}
	}
	return ""
}

func (o offline) offers(name string) bool {
	return slices.ContainsFunc(o.sit.Tools, func(t tool.Spec) bool { return t.Name == name })
}

// mapTool names the README of a folder.
const mapTool = "repo_map"

// ofAll says whether a question is about the folder as a whole, “what is this project?”: beside the word that it begins
// with, it only says what stands behind a “this”.
func (o offline) ofAll() bool {
	words := strings.FieldsFunc(strings.ToLower(o.sit.Question), func(r rune) bool { return !unicode.IsLetter(r) })
	at := slices.IndexFunc(words, search.IsPointing)
	return at >= 0 && o.earlier == "" && !slices.ContainsFunc(o.terms, func(t string) bool {
		n := slices.Index(words, strings.ToLower(t))
		return n != 0 && n != at+1 && !search.IsGeneric(strings.ToLower(t))
	})
}

// searchable says whether anything that is offered can be searched with words.
func (o offline) searchable() bool { return slices.ContainsFunc(o.sit.Tools, searchesWords) }

func searchesWords(t tool.Spec) bool {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	return t.Search && json.Unmarshal(t.Schema, &schema) == nil && schema.Properties["query"] != nil
}

// searches proposes to open the file that the question names, and every search tool that is offered and was not tried.
func (o offline) searches() (calls []model.ToolCall) {
	if file := o.named(); file != "" && len(o.sit.Steps) == 0 {
		calls = append(calls, o.call(0, readerOf[tool.Code], lookup{Path: file}))
	}
	if o.ofAll() && !slices.Contains(o.called(), mapTool) && o.offers(mapTool) {
		calls = append(calls, o.call(len(calls), mapTool, lookup{}))
	}
	for _, spec := range o.sit.Tools {
		if len(o.terms) == 0 || !searchesWords(spec) || slices.Contains(o.called(), spec.Name) {
			continue
		}
		calls = append(calls, o.call(len(calls), spec.Name,
			lookup{Query: strings.TrimSpace(o.sit.Question + " " + o.earlier)}))
	}
	return calls
}

// lookup are the arguments of a search or a reader.
type lookup struct {
	Query string `json:"query,omitempty"`
	URL   string `json:"url,omitempty"`
	Path  string `json:"path,omitempty"`
	Start int    `json:"start,omitempty"`
	End   int    `json:"end,omitempty"`
}

func (o offline) call(n int, name string, args lookup) model.ToolCall {
	raw, _ := json.Marshal(args) // texts and numbers
	return model.ToolCall{ID: fmt.Sprintf("call_%d_%d", len(o.sit.Steps)+1, n+1), Name: name, Arguments: string(raw)}
}

func (o offline) propose(calls []model.ToolCall, reason string) model.Response {
	return model.Response{ToolCalls: calls, Finish: model.FinishTools,
		Text: sig("need_turn", 0.8, field("reason", reason), field("expected_turns", "1"))}
}

// open opens the best hits that do not overlap.
func (o offline) open(hits []hit) model.Response {
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
		args := lookup{URL: h.URL}
		if h.source != tool.Web {
			start, end := h.around()
			args = lookup{Path: h.Path, Start: start, End: end}
		}
		if calls = append(calls, o.call(len(calls), readerOf[h.source], args)); len(calls) == mostPlaces {
			break
		}
	}
	return o.propose(calls, "reading the best places found")
}

func (o offline) called() (names []string) {
	for _, s := range o.sit.Steps {
		if !slices.Contains(names, s.Call.Name) {
			names = append(names, s.Call.Name)
		}
	}
	return names
}

// nothing says that nothing was found, and what was searched.
func (o offline) nothing() model.Response {
	said, missing := "nothing", "place"
	tried := ""
	switch {
	case o.sit.Final && len(o.sit.Steps) == 0:
		said, missing = "no_turns", "turn"
	case o.sit.Class == string(classify.Research) && len(o.sit.Steps) == 0:
		said, missing = "no_web", "web"
	case len(o.terms) == 0 && slices.Contains(o.called(), mapTool):
		said, missing = "no_readme", "word"
	case len(o.terms) == 0:
		said, missing = "no_words", "word"
	case len(o.sit.Steps) == 0:
		said, missing = "no_source", "source"
	default:
		tools := slices.DeleteFunc(o.called(), func(name string) bool { return name == mapTool })
		for i, name := range tools {
			source, _, _ := strings.Cut(name, "_")
			tools[i] = cmp.Or(o.says("of_"+source), name)
		}
		tried = " " + strings.NewReplacer("{sources}", agent.Listed(slices.Compact(tools), o.says("and")), "{words}",
			strings.Join(o.terms, ", ")).Replace(o.says("searched")) + o.failures()
	}
	return say(o.says("no_model")+". "+o.says(said)+tried+" "+o.says("to_have_one"),
		sig("partial_answer", 0.8, field("missing", o.says(missing))))
}

func (o offline) failures() (all string) {
	for _, s := range o.sit.Steps {
		if s.Receipt.Error != nil {
			all += " " + strings.NewReplacer("{tool}", s.Call.Name, "{why}",
				text.OneLine(s.Receipt.Error.Message)).Replace(o.says("failed"))
		}
	}
	return all
}

func say(answer, signal string) model.Response {
	return model.Response{Text: answer + "\n" + signal, Finish: model.FinishStop}
}
