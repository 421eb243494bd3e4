package modeltest

import (
	"cmp"
	_ "embed" // the templates and failures
	"encoding/json"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"

	"sibyl/internal/model"
)

//go:embed protocols.tmpl
var protocolsFile string

//go:embed failures.json
var failuresFile []byte

// route says how one kind of request is answered.
type route struct {
	suffix    string // of its path
	name      string // of its templates
	protocol  string // of its failures
	mediaType string
	schema    []string // the path in a request to the schema of its answer
}

const (
	eventStream = "text/event-stream; charset=utf-8"
	jsonLines   = "application/x-ndjson"
	wholeJSON   = "application/json"
)

func routes() []route {
	return []route{
		{"/chat/completions", "chat", "openai", eventStream, []string{"response_format", "json_schema", "schema"}},
		{"/responses", "responses", "openai", eventStream, []string{"text", "format", "schema"}},
		{"/embeddings", "embeddings", "openai", wholeJSON, nil},
		{"/audio/transcriptions", "transcriptions", "openai", wholeJSON, nil},
		{"/v1/messages", "messages", "anthropic", eventStream, []string{"output_config", "format", "schema"}},
		{":streamGenerateContent", "gemini", "gemini", eventStream, []string{"generationConfig", "responseJsonSchema"}},
		{"/api/chat", "ollama", "ollama", jsonLines, []string{"format"}},
		{"/api/embed", "embed", "ollama", wholeJSON, nil},
		{"/inference", "transcriptions", "whisper", wholeJSON, nil},
	}
}

func routeOf(path string) (route, bool) {
	all := routes()
	at := slices.IndexFunc(all, func(r route) bool { return strings.HasSuffix(path, r.suffix) })
	if at < 0 {
		return route{}, false
	}
	return all[at], true
}

func isListPath(path string) bool { return path == "/api/tags" || strings.HasSuffix(path, "/models") }

// listTemplate returns the template of the list of models at a path.
func listTemplate(path string) string {
	switch {
	case path == "/api/tags":
		return "ollama/list"
	case strings.HasPrefix(path, "/v1beta/"):
		return "gemini/list"
	}
	return "openai/list"
}

// failure is a provider's form of an error.
type failure struct {
	Status  int    `json:"status"`
	Type    string `json:"type"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Stream  string `json:"stream"` // what is streamed instead, if it is no failure in this protocol
	Seconds int    `json:"-"`      // after which to ask again
}

var failures = sync.OnceValue(func() (all map[string]map[model.Kind]failure) {
	if err := json.Unmarshal(failuresFile, &all); err != nil {
		panic(err)
	}
	return all
})

// writeFailure writes a failure as the provider does: by its status, or in a stream. Some messages repeat the key.
func (r route) writeFailure(w http.ResponseWriter, a Answer, req Request) {
	f := cmp.Or(failures()[r.protocol][a.Fail], failures()[r.protocol][model.Server])
	if f.Stream != "" {
		w.Header().Set("Content-Type", eventStream)
		_, _ = io.WriteString(w, f.Stream)
		return
	}
	if a.Fail == model.Auth {
		f.Message += req.Key()
	}
	f.Seconds = int(a.RetryAfter.Seconds())
	if f.Seconds > 0 && r.protocol != "gemini" { // which says so in the body
		w.Header().Set("Retry-After", strconv.Itoa(f.Seconds))
	}
	writeJSON(w, f.Status, executeTemplate(r.protocol+"/error", f))
}

var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"json":  func(v any) (string, error) { text, err := json.Marshal(v); return string(text), err },
		"next":  func(n int) int { return n + 1 },
		"minus": func(n, m int) int { return n - m },
		"log":   math.Log,
		"word":  finishWord,
		"object": func(arguments string) (string, error) { // what is none goes over the wire as the text it is
			if arguments = cmp.Or(arguments, "{}"); json.Valid([]byte(arguments)) {
				return arguments, nil
			}
			text, err := json.Marshal(arguments)
			return string(text), err
		},
	}).Parse(protocolsFile))
})

// finishWord returns the protocol's word for a Finish, in JSON. words are pairs: a Finish, and the protocol's word if
// it differs.
func finishWord(finish model.Finish, words ...string) string {
	for i := 0; i < len(words); i += 2 {
		if words[i] == string(finish) {
			return strconv.Quote(words[i+1])
		}
	}
	return strconv.Quote(string(finish))
}

// executeTemplate returns a template's output for data; "" if there is no such template.
func executeTemplate(name string, data any) string {
	var out strings.Builder
	if t := templates().Lookup(name); t != nil {
		if err := t.Execute(&out, data); err != nil {
			panic("modeltest: an answer cannot be written: " + err.Error())
		}
	}
	return out.String()
}

// answerData is the data of the templates for an Answer.
type answerData struct {
	Answer
	Model   string
	Text    string
	Indexed []call
	Counted bool // usage is reported
	Details bool // the transcript has times
}

type call struct {
	Index int
	model.ToolCall
}

type piece struct {
	Index int
	Text  string
}

type vector struct {
	Index  int
	Vector []float32
}

// Backwards returns the vectors with their indexes, the last first.
func (r answerData) Backwards() (all []vector) {
	for i, v := range slices.Backward(r.Vectors) {
		all = append(all, vector{i, v})
	}
	return all
}

// render returns the parts of a, and the end, which is empty if the stream breaks off.
func (r route) render(a Answer, req Request) (parts []string, end string) {
	a.Finish = a.Finish.OrInferred(a.Calls)
	all := answerData{Answer: a, Model: req.Model, Text: strings.Join(a.Chunks, ""),
		Details: req.Form.Get("response_format") == "verbose_json"}
	all.Counted = a.Usage != model.Usage{} && (r.name != "chat" || strings.Contains(req.Body, `"include_usage":true`))
	for i, c := range a.Calls {
		all.Indexed = append(all.Indexed, call{i, c})
	}
	if a.Break == "" || a.Break == Open {
		end = executeTemplate(r.name+"/end", all)
	}
	if a.Break == Hang && len(a.Chunks)+len(a.Calls) == 0 {
		return nil, ""
	}
	if begin := executeTemplate(r.name+"/begin", all); begin != "" {
		parts = append(parts, begin)
	}
	for _, chunk := range a.Chunks {
		parts = append(parts, executeTemplate(r.name+"/text", chunk))
	}
	for _, c := range all.Indexed {
		parts = append(parts, executeTemplate(r.name+"/call", c))
	}
	if templates().Lookup(r.name+"/piece") != nil {
		for _, p := range interleavedPieces(a.Calls) {
			parts = append(parts, executeTemplate(r.name+"/piece", p))
		}
	}
	return parts, end
}

// interleavedPieces cuts the calls' arguments into pieces, one of each call in turn. No piece ends inside a character.
func interleavedPieces(calls []model.ToolCall) (all []piece) {
	left := make([][]rune, len(calls))
	for i, c := range calls {
		left[i] = []rune(c.Arguments)
	}
	for size, more := 1, true; more; size = size%7 + 2 {
		more = false
		for i, text := range left {
			if len(text) > 0 {
				n := min(max(size, len(text)/100), len(text))
				all = append(all, piece{i, string(text[:n])})
				left[i], more = text[n:], true
			}
		}
	}
	return all
}
