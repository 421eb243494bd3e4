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
// the best places, lists them and quotes the first. It claims nothing about them, and says that no model is in use.
func OfflineRule(_ context.Context, req model.Request) (model.Response, error) {
	sit, err := offlineSituation(req)
	if err != nil {
		return model.Response{}, err
	}
	return newOffline(sit).reply(), nil
}

// OfflineNotes writes notes without a language model: what was searched and read, and what was found.
func OfflineNotes(_ context.Context, req model.Request) (model.Response, error) {
	sit, err := offlineSituation(req)
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

func offlineSituation(req model.Request) (Situation, error) {
	sit, ok := req.Facts.(Situation)
	if !ok {
		return sit, &model.Error{Kind: model.Invalid,
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

func newOffline(sit Situation) offline {
	o := offline{sit: sit, terms: classify.Terms(sit.Question)}
	if classify.Continues(sit.Question) {
		o.earlier = sit.Previous
	}
	return o
}

const (
	mostPlaces  = 5   // opened after a search, and listed in an answer
	readContext = 300 // lines opened at most around a hit
)

func (o offline) reply() model.Response {
	if o.sit.Class == string(classify.Action) && !(o.sit.Unsure && o.searchable()) {
		return finalReply(o.phrase("no_writing", "to_have_one"),
			signalXML("partial_answer", 0.9, fieldXML("missing", o.phrase("writer"))))
	}
	if len(o.sit.Material) == 0 && o.isAboutCarried() {
		o.sit.Material = o.sit.Carried
	}
	if len(o.sit.Material) > 0 {
		return o.answerFromMaterial()
	}
	places := o.openedPassages()
	places = places[:min(len(places), mostPlaces)]
	if !o.sit.Final && len(places) == 0 {
		if hits := o.rankedHits(); len(hits) > 0 && !o.hasOpenedHits() {
			return o.proposeCalls(o.openCalls(hits, mostPlaces, readContext), "reading the best places found")
		}
		if calls := o.searchCalls(); calls != nil {
			return o.proposeCalls(calls, "searching for "+strings.Join(o.terms, ", "))
		}
	}
	switch {
	case len(places) > 0:
		return o.answerFrom(places)
	case o.sit.Class == string(classify.Conversational) && len(o.sit.Steps) == 0:
		return finalReply(greeting(o.sit.Question),
			signalXML("context_sufficient", 0.5, fieldXML("sources_found", "0")))
	case len(o.sit.Steps) > 0 && !o.sit.Final && !o.isForWeb():
		stuck := signalXML("stuck", 0.8, listXML("attempted", o.calledTools()),
			fieldXML("blocker", "no search found the question's words"))
		return model.Response{Text: stuck, Finish: model.FinishStop}
	}
	return o.foundNothing()
}

// fewLetters is how many letters can be of any language, as in “hi”.
const fewLetters = 4

// greeting answers small talk, and questions about what this is, in their language as far as that is known.
func greeting(question string) string { return phrases()[languageOf(question)]["hello"] }

// languageOf is the language of a question, or else of the one before.
func languageOf(question string, earlier ...string) string {
	if len(question) > fewLetters {
		return cmp.Or(language.Of(question), language.Of(earlier...), "en")
	}
	return cmp.Or(language.Of(earlier...), "en")
}

//go:embed offline_words.json
var phrasesText string

// phrases are the texts that are used without a model, by language and purpose; some languages have only the greeting.
var phrases = sync.OnceValue(func() (all map[string]map[string]string) {
	if err := json.Unmarshal([]byte(phrasesText), &all); err != nil {
		panic(err) // the file is ours, and a test reads it
	}
	return all
})

// phrase joins phrases in the language of the question.
func (o offline) phrase(which ...string) string {
	own := phrases()[languageOf(o.sit.Question, o.earlier)]
	said := make([]string, len(which))
	for i, one := range which {
		said[i] = cmp.Or(own[one], phrases()["en"][one])
	}
	return strings.Join(said, " ")
}

// readerOf names the tool that opens a hit of a source.
var readerOf = map[tool.Source]string{tool.Code: "code_read", tool.Vault: "vault_read", tool.Web: "web_fetch"}

// searcherOf names the tool that searches a source.
var searcherOf = map[tool.Source]string{tool.Code: "code_search", tool.Vault: "vault_search", tool.Web: "web_search"}

// hasOpenedHits says whether a reader was called after a search.
func (o offline) hasOpenedHits() bool {
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

// namedFile is the file that a question names with its folder; "" if there is none, or code can't be read.
func (o offline) namedFile() string {
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

// documents are the texts beside the code.
const documents = "*.md"

// mapTool is the tool that names the README of a folder.
const mapTool = "repo_map"

// asksAboutFolder says whether a question is about the folder as a whole, as “what is this project?”: its only terms
// are the first word, the one after a “this”, and generic ones.
func (o offline) asksAboutFolder() bool {
	words := strings.FieldsFunc(strings.ToLower(o.sit.Question), func(r rune) bool { return !unicode.IsLetter(r) })
	at := slices.IndexFunc(words, search.IsPointing)
	return at >= 0 && o.earlier == "" && !slices.ContainsFunc(o.terms, func(t string) bool {
		n := slices.Index(words, strings.ToLower(t))
		return n != 0 && n != at+1 && !search.IsGeneric(strings.ToLower(t))
	})
}

// searchable says whether an offered tool searches for words.
func (o offline) searchable() bool { return slices.ContainsFunc(o.sit.Tools, searchesWords) }

func searchesWords(t tool.Spec) bool {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	return t.Search && json.Unmarshal(t.Schema, &schema) == nil && schema.Properties["query"] != nil
}

// isForWeb says whether a question is surely for the web, and nothing that the person named is left to search: no other
// source is likely to know the answer.
func (o offline) isForWeb() bool {
	isLeft := func(s tool.Source) bool {
		return !slices.ContainsFunc(o.calledTools(), func(name string) bool {
			return slices.Contains([]string{searcherOf[s], readerOf[s]}, name)
		})
	}
	return o.sit.Class == string(classify.Research) && o.sit.Sure && !slices.ContainsFunc(o.sit.Named, isLeft)
}

// lacksWeb says whether a question is for the web, and no tool can search it.
func (o offline) lacksWeb() bool {
	return o.sit.Class == string(classify.Research) && !slices.Contains(o.calledTools(), searcherOf[tool.Web]) &&
		!o.offers(searcherOf[tool.Web])
}

// searchCalls opens the file that the question names, and calls every offered search tool that was not tried.
func (o offline) searchCalls() (calls []model.ToolCall) {
	if file := o.namedFile(); file != "" && len(o.sit.Steps) == 0 {
		calls = append(calls, o.newCall(0, readerOf[tool.Code], callArguments{Path: file}))
	}
	if o.asksAboutFolder() && !slices.Contains(o.calledTools(), mapTool) && o.offers(mapTool) {
		calls = append(calls, o.newCall(len(calls), mapTool, callArguments{}))
	}
	for _, spec := range o.sit.Tools {
		if len(o.terms) == 0 || !searchesWords(spec) || slices.Contains(o.calledTools(), spec.Name) {
			continue
		}
		args := callArguments{Query: strings.TrimSpace(o.sit.Question + " " + o.earlier)}
		calls = append(calls, o.newCall(len(calls), spec.Name, args))
		if o.sit.NoTools && spec.Name == searcherOf[tool.Code] { // what people ask often stands in its documents
			args.Path = documents
			calls = append(calls, o.newCall(len(calls), spec.Name, args))
		}
	}
	return calls
}

// callArguments are the arguments of a search or a reader.
type callArguments struct {
	Query string `json:"query,omitempty"`
	URL   string `json:"url,omitempty"`
	Path  string `json:"path,omitempty"`
	Start int    `json:"start,omitempty"`
	End   int    `json:"end,omitempty"`
}

func (o offline) newCall(n int, name string, args callArguments) model.ToolCall {
	raw, _ := json.Marshal(args) // texts and numbers
	return model.ToolCall{ID: fmt.Sprintf("call_%d_%d", len(o.sit.Steps)+1, n+1), Name: name, Arguments: string(raw)}
}

func (o offline) proposeCalls(calls []model.ToolCall, reason string) model.Response {
	return model.Response{ToolCalls: calls, Finish: model.FinishTools,
		Text: signalXML("need_turn", 0.8, fieldXML("reason", reason), fieldXML("expected_turns", "1"))}
}

// openCalls open the best hits that do not overlap: so many places at most, and of each so many lines.
func (o offline) openCalls(hits []hit, places, lines int) (calls []model.ToolCall) {
	var taken []hit
	for _, h := range hits {
		overlaps := slices.ContainsFunc(taken, func(t hit) bool {
			return t.Path == h.Path && t.URL == h.URL && h.Start <= t.End && t.Start <= h.End
		})
		if overlaps {
			continue
		}
		taken = append(taken, h)
		args := callArguments{URL: h.URL}
		if h.source != tool.Web {
			start, end := h.linesToOpen(lines)
			args = callArguments{Path: h.Path, Start: start, End: end}
		}
		if calls = append(calls, o.newCall(len(calls), readerOf[h.source], args)); len(calls) == places {
			break
		}
	}
	return calls
}

func (o offline) calledTools() (names []string) {
	for _, s := range o.sit.Steps {
		if !slices.Contains(names, s.Call.Name) {
			names = append(names, s.Call.Name)
		}
	}
	return names
}

// foundNothing replies that nothing was found, and says what was searched.
func (o offline) foundNothing() model.Response {
	said, missing := o.nothingFound()
	return finalReply(o.phrase("no_model")+". "+said+" "+o.phrase("to_have_one"),
		signalXML("partial_answer", 0.8, fieldXML("missing", missing)))
}

// nothingFound says that nothing was found, where it was looked for and by which words, and what is missing.
func (o offline) nothingFound() (text, lacking string) {
	said, missing := "nothing", "place"
	tried := ""
	switch {
	case o.sit.Final && len(o.sit.Steps) == 0:
		said, missing = "no_turns", "turn"
	case o.lacksWeb() && len(o.sit.Steps) == 0:
		said, missing = "no_web", "web"
	case len(o.terms) == 0 && slices.Contains(o.calledTools(), mapTool):
		said, missing = "no_readme", "word"
	case len(o.terms) == 0:
		said, missing = "no_words", "word"
	case len(o.sit.Steps) == 0:
		said, missing = "no_source", "source"
	default:
		tools := slices.DeleteFunc(o.calledTools(), func(name string) bool { return name == mapTool })
		for i, name := range tools {
			source, _, _ := strings.Cut(name, "_")
			tools[i] = cmp.Or(o.phrase("of_"+source), name)
		}
		tried = " " + strings.NewReplacer("{sources}", agent.Listed(slices.Compact(tools), o.phrase("and")), "{words}",
			strings.Join(o.terms, ", ")).Replace(o.phrase("searched")) + o.failureText()
	}
	if o.lacksWeb() && said != "no_web" {
		tried = " " + o.phrase(said) + tried
		said, missing = "no_web", "web"
	}
	return o.phrase(said) + tried, o.phrase(missing)
}

func (o offline) failureText() (all string) {
	for _, s := range o.sit.Steps {
		if s.Receipt.Error != nil {
			all += " " + strings.NewReplacer("{tool}", s.Call.Name, "{why}",
				text.OneLine(s.Receipt.Error.Message)).Replace(o.phrase("failed"))
		}
	}
	return all
}

func finalReply(answer, signal string) model.Response {
	return model.Response{Text: answer + "\n" + signal, Finish: model.FinishStop}
}
