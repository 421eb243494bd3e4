package oracle

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"sibyl/internal/agent"
	"sibyl/internal/model"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/text/search"
	"sibyl/internal/tool"
)

// The tools that answer a form of question by themselves.
const (
	historyTool    = "code_history"
	outlineTool    = "code_outline"
	referencesTool = "code_references"
	searchTool     = "code_search"
	mapTool        = "repo_map"
)

// query are the arguments of a search.
type query struct {
	Query string `json:"query"`
}

// classes are the closed classes of words by which a question's form is known, in English, German and Portuguese.
var classes = sync.OnceValue(func() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for name, words := range map[string]string{
		"who": "who what when which where wer was wann welche welcher wo quem que quando qual onde o",
		// What a person did to a text, in the past.
		"did": "changed wrote added removed edited modified introduced touched deleted committed geändert geschrieben hinzugefügt entfernt gelöscht eingeführt mudou alterou " +
			"escreveu adicionou removeu alterado alterada adicionado adicionada removido introduzido",
		"helps":  "was were has have did hat haben wurde wurden sich foi foram have ist last recently zuletzt ultimamente had been there already",
		"commit": "commit commits committed blame uncommitted",
		"uses": "call calls called calling caller callers use uses used user users usage usages reference references referenced invoke invokes invoked ruft rufen aufgerufen auf aufruf " +
			"aufrufe aufrufer verwendet verwenden verwendung benutzt benutzen genutzt nutzt chama chamam chamado chamada usa usam usado usada utiliza utilizado",
		"parts": "explain describe list show summarize summarise outline overview content contents structure purpose function functions func funcs method methods type types constant " +
			"constants variable variables declaration declarations symbol symbols package folder directory source erkläre erklär beschreibe zeige liste übersicht überblick inhalt aufbau zweck " +
			"funktion funktionen methode methoden typ typen konstanten datei ordner explique descreva liste mostre conteúdo resumo estrutura função funções método métodos tipo tipos " +
			"arquivo ficheiro pasta alle all todos todas are there",
		"folder": "folder directory package module ordner verzeichnis paket modul pasta diretório pacote módulo",
		// How far back the changes are that somebody asks for, and how many.
		"time": "today yesterday week month day days hours since heute gestern woche monat seit hoje ontem semana mês desde",
		"project": "project projects repo repository codebase program library package module app application tool software projekt bibliothek programm paket anwendung werkzeug projeto " +
			"biblioteca programa pacote aplicação ferramenta repositório this work works do does help built build structured organised organized",
	} {
		all[name] = map[string]bool{}
		for w := range strings.FieldsSeq(words) {
			all[name][w] = true
		}
	}
	return all
})

func in(class, word string) bool { return classes()[class][word] }

// intended answers a question whose form says what answers it: a file or folder that it names, who uses what, what changed, what the whole
// is. Where that leads nowhere, or the tool is not offered, words are searched for as in any question.
func (o offline) intended() (model.Response, bool) {
	for _, way := range []func() (model.Response, bool){o.changes, o.uses, o.place, o.project} {
		if r, ok := way(); ok {
			return r, true
		}
	}
	return model.Response{}, false
}

// offers says whether a tool can be called, or was.
func (o offline) offers(name string) bool {
	return slices.ContainsFunc(o.sit.Tools, func(t tool.Spec) bool { return t.Name == name }) || o.asked(name) != nil
}

// asked gives the receipts of a tool, in order.
func (o offline) asked(name string) (all []agent.CallReceipt) {
	for _, s := range o.sit.Steps {
		if s.Call.Name == name {
			all = append(all, s.Receipt)
		}
	}
	return all
}

// first decodes what the first call of a tool gave, and says whether it gave something.
func first[D any](o offline, name string) (data D, ok bool) {
	for _, r := range o.asked(name) {
		if r.Result != nil && json.Unmarshal(r.Result.Data, &data) == nil {
			return data, true
		}
	}
	return data, false
}

// words are those of the question in lower case, as they follow each other.
func (o offline) words() []string {
	return strings.FieldsFunc(strings.ToLower(o.sit.Question), func(r rune) bool { return strings.ContainsRune(" \t\n,;?!\"'“”‘’„`()", r) })
}

var pathLike = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[\s"'‘“„(` + "`" + `])(\.{0,2}/?(?:[\pL\pN_@+~.-]+/)*[\pL\pN_@+~.-]+?)(?::([0-9]+)(?:-([0-9]+))?)?/?[.,;:?!)"'’”` + "`" + `]*(?:\s|$)`)
})

// namedPlace is a path in the words of a question, with the lines behind it.
type namedPlace struct {
	path       string
	start, end int
	file       bool // it has an ending
}

// namedPlace finds the first token that is written as a path is: with a slash or an ending, neither a number nor an address.
func (o offline) namedPlace() (p namedPlace, ok bool) {
	for token := range strings.FieldsSeq(o.sit.Question) {
		m := pathLike().FindStringSubmatch(token)
		if m == nil {
			continue
		}
		name := strings.TrimPrefix(m[1], "./")
		stem, ending := "", ""
		if at := strings.LastIndexByte(name, '.'); at > strings.LastIndexByte(name, '/') {
			stem, ending = name[:at], name[at+1:]
		}
		file := len(stem) > 1 && len(ending) > 0 && len(ending) <= 6 && ending == strings.ToLower(ending) && strings.ContainsAny(ending, "abcdefghijklmnopqrstuvwxyz")
		if !file && !strings.Contains(strings.Trim(name, "/"), "/") || !strings.ContainsFunc(name, isLetter) {
			continue
		}
		p = namedPlace{path: name, file: file}
		p.start, _ = strconv.Atoi(m[2])
		p.end, _ = strconv.Atoi(m[3])
		return p, true
	}
	return p, false
}

// namedFolder is the one telling word of a question, where a word beside it says that it is a folder.
func (o offline) namedFolder() (p namedPlace, ok bool) {
	rest, words := o.besides(namedPlace{}, "parts", "who", "project", "folder"), o.words()
	if len(rest) != 1 {
		return p, false
	}
	at := slices.Index(words, strings.ToLower(rest[0]))
	if at < 0 || !(at > 0 && in("folder", words[at-1]) || at+1 < len(words) && in("folder", words[at+1])) {
		return p, false
	}
	return namedPlace{path: o.written(rest[0])}, true
}

func isLetter(r rune) bool { return unicode.IsLetter(r) }

// besides are the telling words of the question, without those of classes and of a path that it names.
func (o offline) besides(p namedPlace, of ...string) (words []string) {
	for _, t := range o.telling() {
		low := strings.ToLower(t)
		isPath := p.path != "" && (strings.EqualFold(strings.TrimPrefix(t, "./"), p.path) || strings.Contains(strings.ToLower(p.path), low))
		if !isPath && !search.IsLight(low) && !slices.ContainsFunc(of, func(class string) bool { return in(class, low) }) {
			words = append(words, t)
		}
	}
	return words
}

// symbol is the one name of a program that a question is about; "" if it names none, or several.
func (o offline) symbol(of ...string) string {
	rest := o.besides(namedPlace{}, of...)
	var names []string
	for _, w := range rest {
		if as := o.written(w); isIdentifier(as) || strings.Contains(as, ".") && !strings.HasSuffix(as, ".") {
			names = append(names, as)
		}
	}
	switch {
	case len(names) == 1:
		return names[0]
	case len(names) == 0 && len(rest) == 1 && !strings.Contains(rest[0], " "):
		return o.written(rest[0])
	}
	return ""
}

// uses answers who calls or uses something.
func (o offline) uses() (model.Response, bool) {
	words := o.words()
	if !o.offers(referencesTool) || len(words) == 0 || !slices.ContainsFunc(words, func(w string) bool { return in("uses", w) }) ||
		!slices.ContainsFunc(words[:min(3, len(words))], func(w string) bool { return in("who", w) || in("uses", w) && !strings.HasSuffix(w, "e") }) {
		return model.Response{}, false
	}
	symbol := o.symbol("uses", "parts", "who", "project")
	if symbol == "" {
		return model.Response{}, false
	}
	if len(o.asked(referencesTool)) == 0 {
		if o.sit.Final {
			return model.Response{}, false
		}
		return o.propose([]model.ToolCall{o.call(0, referencesTool, struct {
			Symbol string `json:"symbol"`
		}{symbol})}, "looking for what uses "+symbol), true
	}
	data, ok := first[usesFound](o, referencesTool)
	if !ok || len(data.Definitions)+len(data.Uses) == 0 {
		return model.Response{}, false
	}
	if calls := o.readUsers(data); calls != nil {
		return o.propose(calls, "reading what uses "+symbol), true
	}
	return say(data.text(symbol, o.read()), sig("context_sufficient", 0.7, field("sources_found", strconv.Itoa(max(1, min(len(data.Uses), mostListed)))), list("source_types", []string{string(tool.Code)}))), true
}

// readUsers opens the first definitions that use something, or of a long one the lines around the use; nil where they were asked for, or no turn is left.
func (o offline) readUsers(data usesFound) (calls []model.ToolCall) {
	reader := readerOf[tool.Code]
	if o.sit.Final || len(o.asked(reader)) > 0 || !o.offers(reader) {
		return nil
	}
	for i, u := range data.users() {
		if u.Within == "" || i == mostUsers {
			break
		}
		start, end := u.Start, u.End
		if end-start >= wholeLines {
			start = max(start, u.Line-quoteLines/2)
			end = min(end, start+quoteLines-1)
		}
		calls = append(calls, o.call(i, reader, struct {
			Path  string `json:"path"`
			Start int    `json:"start"`
			End   int    `json:"end"`
		}{u.Path, start, end}))
	}
	return calls
}

// place answers what a file or folder is that the question names; where it asks more of a file, only that file is searched.
func (o offline) place() (model.Response, bool) {
	p, ok := o.namedPlace()
	if !ok {
		p, ok = o.namedFolder()
	}
	if !ok || !o.offers(outlineTool) {
		return model.Response{}, false
	}
	rest := o.besides(p, "parts", "who", "project")
	if len(rest) > 0 && !p.file {
		return model.Response{}, false // the search knows what to make of a folder's name
	}
	if len(o.asked(outlineTool)) == 0 {
		if o.sit.Final {
			return model.Response{}, false
		}
		calls := []model.ToolCall{o.call(0, outlineTool, struct {
			Path string `json:"path"`
		}{p.path})}
		if len(rest) == 0 && p.start == 0 && o.kindsAsked() == nil && o.offers(searchTool) {
			calls = append(calls, o.call(1, searchTool, query{strings.TrimSpace(o.sit.Question)}))
		}
		return o.propose(calls, "looking at "+p.path), true
	}
	data, ok := first[outlined](o, outlineTool)
	if !ok {
		return model.Response{}, false
	}
	if p.start > 0 {
		return o.linesOf(data.Path, p)
	}
	if len(rest) > 0 {
		return o.searchWithin(data.Path)
	}
	if calls := o.readWithin(data.Path); calls != nil {
		return o.propose(calls, "reading in "+data.Path), true
	}
	return say(data.text(o.kindsAsked(), o.shownWithin(data.Path)), sig("context_sufficient", 0.7, field("sources_found", "1"), list("source_types", []string{string(tool.Code)}))), true
}

// isWithin says whether a file is what a path names, or lies below it.
func isWithin(file, at string) bool {
	return at == "." || file == at || strings.HasPrefix(file, strings.TrimSuffix(at, "/")+"/")
}

// readWithin opens the best places of a file or folder that a search found; nil where some were opened, or no turn is left.
func (o offline) readWithin(at string) []model.ToolCall {
	hits := slices.DeleteFunc(o.hits(), func(h hit) bool { return !isWithin(h.Path, at) || h.source != tool.Code })
	if o.sit.Final || o.opened() || len(hits) == 0 {
		return nil
	}
	return o.callAll(hits[:min(len(hits), mostDefinitions)]).ToolCalls
}

// shownWithin are the passages of a file or folder that were read, in the order of the search.
func (o offline) shownWithin(at string) []quote {
	return slices.DeleteFunc(o.quotes(), func(q quote) bool { return !isWithin(q.path, at) || q.source != tool.Code })
}

// linesOf opens lines that the question names, and shows them.
func (o offline) linesOf(path string, p namedPlace) (model.Response, bool) {
	if read := o.read(); len(read) > 0 {
		q := read[0]
		return say("`"+q.cite()+"`:\n\n"+q.fenced()+"\n", sig("context_sufficient", 0.7, field("sources_found", "1"), list("source_types", []string{string(q.source)}))), true
	}
	if len(o.asked(readerOf[tool.Code])) > 0 || o.sit.Final {
		return model.Response{}, false
	}
	return o.propose([]model.ToolCall{o.call(0, readerOf[tool.Code], struct {
		Path  string `json:"path"`
		Start int    `json:"start"`
		End   int    `json:"end"`
	}{path, max(1, p.start-2), max(p.start, p.end) + 2})}, "reading "+path), true
}

// searchWithin searches a file for the words of the question, before all files are searched.
func (o offline) searchWithin(path string) (model.Response, bool) {
	if o.sit.Final || len(o.asked(searchTool)) > 0 || !o.offers(searchTool) {
		return model.Response{}, false
	}
	return o.propose([]model.ToolCall{o.call(0, searchTool, struct {
		Query string `json:"query"`
		Path  string `json:"path"`
	}{strings.TrimSpace(o.sit.Question), path})}, "searching "+path), true
}

// kindsAsked are the kinds of declarations that the question is limited to; nil for all.
func (o offline) kindsAsked() map[string]bool {
	for _, kind := range []struct{ words, kinds string }{
		{"function functions func funcs method methods funktion funktionen methode methoden função funções método métodos", "func method function constructor def"},
		{"type types typ typen tipo tipos", "type struct interface class enum alias"},
		{"constant constants konstanten constante constantes", "const"},
	} {
		for w := range strings.FieldsSeq(kind.words) {
			if slices.Contains(o.words(), w) {
				all := map[string]bool{}
				for k := range strings.FieldsSeq(kind.kinds) {
					all[k] = true
				}
				return all
			}
		}
	}
	return nil
}

// project answers what the whole is, where the question names nothing else.
func (o offline) project() (model.Response, bool) {
	if !o.offers(mapTool) || o.earlier != "" || o.sit.Class == string(classify.Conversational) && len(o.sit.Tools) == 0 {
		return model.Response{}, false
	}
	if _, ok := o.namedPlace(); ok || len(o.besides(namedPlace{}, "project", "parts", "who")) > 0 || o.material != "" {
		return model.Response{}, false
	}
	found, ok := first[mapped](o, mapTool)
	switch {
	case ok && found.ReadmePath != "" && len(o.asked(readerOf[tool.Code])) == 0 && !o.sit.Final:
		return o.propose([]model.ToolCall{o.call(0, readerOf[tool.Code], struct {
			Path  string `json:"path"`
			Start int    `json:"start"`
			End   int    `json:"end"`
		}{found.ReadmePath, 1, 2 * wholeLines})}, "reading "+found.ReadmePath), true
	case ok:
		return o.aboutProject(found)
	case len(o.asked(mapTool)) > 0 || o.sit.Final:
		return model.Response{}, false
	}
	return o.propose([]model.ToolCall{o.call(0, mapTool, struct{}{}), o.call(1, outlineTool, struct {
		Path string `json:"path"`
	}{"."})}, "looking at the whole"), true
}

// changes answers what changed, when, and by whom, from the history.
func (o offline) changes() (model.Response, bool) {
	if !o.offers(historyTool) || !o.asksForChanges() {
		return model.Response{}, false
	}
	if data, ok := first[located](o, "code_definition"); ok && len(data.Definitions) > 0 && len(o.asked(historyTool)) == 0 && !o.sit.Final {
		d := data.Definitions[0]
		return o.propose([]model.ToolCall{o.call(0, historyTool, historyCall{What: "log", Path: d.Path, Start: d.Start, End: d.End, Limit: 5})}, "reading the history of "+d.Symbol), true
	}
	if len(o.asked(historyTool)) > 0 {
		return o.historyAnswer()
	}
	if o.sit.Final {
		return model.Response{}, false
	}
	if p, ok := o.namedPlace(); ok {
		call := historyCall{What: "log", Path: p.path, Limit: 5}
		if p.start > 0 {
			call = historyCall{What: "blame", Path: p.path, Start: p.start, End: max(p.start, p.end)}
		}
		return o.propose([]model.ToolCall{o.call(0, historyTool, call)}, "reading the history of "+p.path), true
	}
	rest := o.besides(namedPlace{}, "did", "helps", "commit", "time", "who", "project", "parts")
	if symbol := o.symbol("did", "helps", "commit", "time", "who", "project", "parts"); len(rest) == 1 && symbol != "" && len(o.asked("code_definition")) == 0 && o.offers("code_definition") {
		return o.propose([]model.ToolCall{o.call(0, "code_definition", struct {
			Symbol string `json:"symbol"`
		}{symbol})}, "looking for "+symbol), true
	}
	if len(rest) > 0 {
		return model.Response{}, false
	}
	calls := []model.ToolCall{o.call(0, historyTool, historyCall{What: "log", Limit: 5})}
	if slices.ContainsFunc(o.words(), func(w string) bool { return w == "last" || w == "letzte" || w == "letzter" || w == "último" }) && slices.ContainsFunc(o.words(), func(w string) bool { return in("commit", w) }) {
		calls = []model.ToolCall{o.call(0, historyTool, historyCall{What: "log", Limit: 1}), o.call(1, historyTool, historyCall{What: "diff", Commit: "HEAD"})}
	} else {
		calls = append(calls, o.call(1, historyTool, historyCall{What: "diff"}))
	}
	return o.propose(calls, "reading the history"), true
}

type historyCall struct {
	What   string `json:"what"`
	Path   string `json:"path,omitempty"`
	Start  int    `json:"start,omitempty"`
	End    int    `json:"end,omitempty"`
	Commit string `json:"commit,omitempty"`
	Limit  int    `json:"limit,omitempty"`
}

// asksForChanges knows the form: a question word near the beginning, and what somebody did behind it, in the past; or commits by their name.
// “When is the key changed?” asks what the program does.
func (o offline) asksForChanges() bool {
	words := o.words()
	if slices.ContainsFunc(words, func(w string) bool { return in("commit", w) }) {
		return len(o.besides(namedPlace{}, "did", "helps", "commit", "time", "who", "project", "parts")) <= 1
	}
	for i, w := range words {
		if !in("did", w) || i == 0 || !slices.ContainsFunc(words[:min(2, i)], func(w string) bool { return in("who", w) }) {
			continue
		}
		if in("who", words[i-1]) || slices.ContainsFunc(words[1:i], func(w string) bool { return in("helps", w) }) {
			return true
		}
	}
	return false
}
