package oracle

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"sibyl/internal/agent"
	"sibyl/internal/model"
	"sibyl/internal/redact"
	"sibyl/internal/signal"
	"sibyl/internal/text"
	"sibyl/internal/text/origin"
)

// Heard is what a reply reports about itself: the signal that counts, further ones, malformed ones, and those that it
// only quotes. Calls are the calls by which the model reported; After says for each of them how many other calls come
// before it in the reply. NotOwn is what was dropped of the text and of the signals' fields, as it was not the model's
// own.
type Heard struct {
	Signal    *signal.Signal   `json:"signal,omitempty"`
	Extra     []signal.Signal  `json:"extra,omitempty"`
	Problems  []signal.Problem `json:"problems,omitempty"`
	Mentions  []signal.Mention `json:"mentions,omitempty"`
	Malformed bool             `json:"malformed,omitempty"`
	Calls     []model.ToolCall `json:"calls,omitempty"`
	After     []int            `json:"after,omitempty"`
	Backing   *Backing         `json:"backing,omitempty"` // how an answer from what was looked up was checked
	NotOwn    []string         `json:"not_own,omitempty"`
}

// Said is the signal as it was written into the text.
func (h Heard) Said() string {
	if h.Signal == nil || h.Calls != nil {
		return ""
	}
	return h.Signal.RawXML
}

// Called are the calls by which the model reported.
func (h Heard) Called() []model.ToolCall { return h.Calls }

// Among puts the calls by which the model reported back between the others, in the reply's order: a provider accepts
// its own form of a turn only with exactly the same calls. If others were left out, the positions are cut to the end.
func (h Heard) Among(calls []model.ToolCall) []model.ToolCall {
	for i, call := range h.Calls {
		at := len(calls)
		if i < len(h.After) {
			at = min(at, h.After[i]+i)
		}
		calls = slices.Insert(slices.Clip(calls), at, call)
	}
	return calls
}

// listener extracts signals, and calls that the model wrote as text from a reply, and drops what is not its own.
type listener struct {
	x     signal.Extractor
	asked agent.Request
	told  bool // of a call that looks like one and can't be performed
	from  func() *origin.Request
	stood int  // bytes of what was shown that stand
	ends  bool // no more will
}

func newListener(asked agent.Request) agent.Listener[Heard] {
	if l := newBackedListener(asked); l != nil {
		return l
	}
	return &listener{asked: asked, told: agent.WasToldOfCalls(asked.Request),
		from: sync.OnceValue(func() *origin.Request { return agent.OriginOf(asked) })}
}

func (l *listener) Write(text string) string { return l.x.Write(text) }

// Standing counts whole lines with more text after them, of a reply that can't be a remark before a call, up to the
// first with words that are not the model's own, or with a secret.
func (l *listener) Standing(shown string) int {
	if len(l.asked.Request.Tools) > 0 || l.asked.Purpose != Purpose || l.ends {
		return l.stood
	}
	rest := strings.TrimRight(shown, " \t\r\n")
	if len(rest) <= l.stood {
		return l.stood
	}
	lines := rest[l.stood:]
	lines = lines[:wholeLines(lines)]
	if lines == "" {
		return l.stood
	}
	calls, _ := agent.RefusedCalls(lines, l.asked.Offered)
	_, dropped := l.from().Own(lines)
	if l.ends = len(calls) > 0 || len(dropped) > 0 || redact.Text(lines) != lines; !l.ends {
		l.stood += len(lines)
	}
	return l.stood
}

// wholeLines is where the last line of a text begins, or the part that it belongs to if only the end of that tells what
// it is: code between fences, and a paragraph that begins as JSON or an element does.
func wholeLines(reply string) (at int) {
	fence, part := "", true // part: a paragraph may begin
	held := false
	from := 0
	for line := range strings.Lines(reply) {
		trimmed := strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(trimmed, fence) {
				fence, part = "", true
			}
		case strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~"):
			fence, held = trimmed[:3], false
		case trimmed == "":
			part, held = true, false
		case part:
			part, held = false, strings.ContainsAny(trimmed[:1], "{[<")
		}
		if from += len(line); fence == "" && !held && strings.HasSuffix(line, "\n") {
			at = from
		}
	}
	return at
}

func (l *listener) Close(shown string, calls []model.ToolCall) agent.CompleteReply[Heard] {
	rest, r := l.x.Close()
	now := time.Now().UTC().Truncate(time.Millisecond)
	c := agent.CompleteReply[Heard]{Rest: rest, Report: Heard{Signal: r.Signal, Extra: r.Extra, Problems: r.Problems,
		Mentions: r.Mentions, Malformed: r.Malformed()}}
	whole := shown + rest
	text := whole
	if len(calls) == 0 {
		if calls, text = agent.WrittenCalls(text, l.asked.Offered); len(calls) == 0 {
			if calls, text = agent.RefusedCalls(text, l.asked.Offered); l.told {
				calls = nil
			}
		}
	}
	for _, call := range calls {
		if call.Name == ReportTool {
			c.Report.addReport(call)
			c.Report.After = append(c.Report.After, len(c.Calls))
		} else {
			c.Calls = append(c.Calls, call)
		}
	}
	c.Report.setTime(now)
	if strings.TrimSpace(text) != "" || c.Report.Signal != nil {
		text = c.Report.keepOwn(text, l.from())
	}
	if len(text) != len(whole) {
		c.Text = &text
	}
	return c
}

// keepOwn drops what is not the model's own of a reply's text, which it returns, and of the fields of its signals.
func (h *Heard) keepOwn(text string, from *origin.Request) string {
	text, h.NotOwn = from.Own(text)
	clean := func(s *signal.Signal) {
		for name, v := range s.Fields {
			if v.Kind == signal.Text && !from.IsOwn(v.Text) {
				h.NotOwn = append(h.NotOwn, v.Text)
				s.Fields[name] = signal.Value{Kind: signal.Text}
			}
			if v.Kind == signal.List {
				items := slices.DeleteFunc(slices.Clone(v.Items), func(item string) bool { return !from.IsOwn(item) })
				s.Fields[name] = signal.Value{Kind: signal.List, Items: items}
			}
		}
	}
	if h.Signal != nil {
		clean(h.Signal)
	}
	for i := range h.Extra {
		clean(&h.Extra[i])
	}
	return text
}

func (h *Heard) setTime(now time.Time) {
	if h.Signal != nil {
		h.Signal.At = now
	}
	for i := range h.Extra {
		h.Extra[i].At = now
	}
}

// ReportTool is the tool by which a model reports if it is told to write no signals in its text.
const ReportTool = "report_signal"

// ReportOffer is the tool by which a model reports, and what says of its arguments what is wrong with them.
func ReportOffer() (offered model.Tool, check func(arguments string) error) {
	return reportTool(), func(arguments string) error {
		_, err := signalFromArguments(arguments)
		return err
	}
}

func reportTool() model.Tool {
	properties := map[string]any{"confidence": map[string]any{"type": "number", "minimum": 0, "maximum": 1}}
	var types, lines []string
	for _, s := range signal.Specs() {
		types = append(types, string(s.Type))
		var fields []string
		for _, f := range s.Fields {
			kind := map[signal.FieldKind]any{signal.Text: map[string]any{"type": "string"},
				signal.Int:  map[string]any{"type": "integer"},
				signal.List: map[string]any{"type": "array", "items": map[string]any{"type": "string"}}}[f.Kind]
			properties[f.Name] = kind
			if f.Required {
				fields = append(fields, f.Name)
			}
		}
		lines = append(lines, fmt.Sprintf("%s: %s (%s)", s.Type, s.When, strings.Join(fields, ", ")))
	}
	properties["type"] = map[string]any{"type": "string", "enum": types}
	// plain values
	schema, _ := json.Marshal(map[string]any{"type": "object", "properties": properties,
		"required": []string{"type", "confidence"}})
	return model.Tool{Name: ReportTool, Schema: schema,
		Description: "Reports your state; it does nothing else. Call it when you are stuck, can answer only in part, " +
			"or need something that is not offered. Types with the fields that they need: " +
			strings.Join(lines, "; ") + "."}
}

// addReport adds a report that came as a call. The first one counts, as with signals in the text.
func (h *Heard) addReport(call model.ToolCall) {
	s, err := signalFromArguments(call.Arguments)
	switch {
	case err != nil:
		h.Problems = append(h.Problems, signal.Problem{Reason: err.Error(), Raw: text.Brief(call.Arguments, 200)})
		h.Malformed = h.Malformed || h.Signal == nil
	case h.Signal == nil:
		h.Signal, h.Malformed = &s, false
	default:
		h.Extra = append(h.Extra, s)
	}
	h.Calls = append(h.Calls, call)
}

func signalFromArguments(arguments string) (signal.Signal, error) {
	var fields map[string]any
	if err := json.Unmarshal([]byte(arguments), &fields); err != nil {
		return signal.Signal{}, fmt.Errorf("the report is not a JSON object: %w", err)
	}
	var body []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		switch v := fields[name].(type) {
		case nil:
		case []any:
			items := make([]string, len(v))
			for i := range v {
				items[i] = fmt.Sprint(v[i])
			}
			body = append(body, listXML(name, items))
		default:
			if name != "type" {
				body = append(body, fieldXML(name, fmt.Sprint(v)))
			}
		}
	}
	kind, _ := fields["type"].(string)
	return signal.Parse(fmt.Sprintf("<signal type=%q>%s</signal>", xmlText(kind), strings.Join(body, "")))
}

// Report is what the tree knows of a reply, besides its calls.
type Report struct {
	Signal    *signal.Signal `json:"signal,omitempty"`
	Malformed bool           `json:"malformed,omitempty"`
	Problem   string         `json:"problem,omitempty"` // why a signal is malformed
	Extra     int            `json:"extra,omitempty"`
	Mentioned int            `json:"mentioned,omitempty"` // signals that it quotes
	Words     Words          `json:"words,omitzero"`
}

func reportOf(r agent.TurnReceipt[Heard]) Report {
	h := r.Report
	report := Report{Signal: h.Signal, Malformed: h.Malformed, Extra: len(h.Extra), Mentioned: len(h.Mentions),
		Words: wordsOf(r.Text)}
	if h.Malformed {
		report.Problem = h.Problems[0].Reason
	}
	return report
}
