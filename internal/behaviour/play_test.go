// Package behaviour_test plays what real models do over their wires, to whole questions through the real program, and
// states of each behaviour what the person gets, and how many requests it takes beside a plain loop's.
//
// It also proves that processes that serve one database survive what happens to processes: the real program, started
// again and again as a node, is killed, stopped and continued, cut off, and restarted while users ask a played model for
// notes in a vault. What is written there and what the journal holds is counted in the end: every run has ended once,
// and has written its note once. SIBYL_LONG=1 asks for all of it; otherwise each scenario happens to one node, with
// fewer runs.
package behaviour_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// heard is a request as a played model hears it, whatever its wire.
type heard struct {
	all     string   // all that was said in it, the prompt aside
	replies int      // of its own
	results int      // of tools
	told    []string // what it was told after the question
	offered []string // tools that it may call
}

// part is a played model: a function of what it hears, so that it does the same in a plain loop as in ours.
type part func(heard) reply

// reply is what a model does in one turn.
type reply struct {
	text   string
	calls  []model.ToolCall
	finish model.Finish
	fail   model.Kind
	raw    *modeltest.Raw
}

// plays gives its replies in turn, and the last one for ever.
func plays(replies ...reply) part {
	return func(h heard) reply { return replies[min(h.replies, len(replies)-1)] }
}

// turn is one reply of several things.
func turn(all ...reply) (r reply) {
	var texts []string
	for _, one := range all {
		if one.text != "" {
			texts = append(texts, one.text)
		}
		r.calls = append(r.calls, one.calls...)
		r.finish += one.finish
	}
	r.text = strings.Join(texts, "\n\n")
	return r
}

func says(text string) reply { return reply{text: text} }

// isCut is a reply that ends at the limit of output.
func isCut() reply { return reply{finish: model.FinishLength} }

func calls(name, arguments string) reply {
	return reply{calls: []model.ToolCall{{Name: name, Arguments: arguments}}}
}

func reads(path string) reply          { return calls("code_read", object("path", path)) }
func readsNote(path string) reply      { return calls("vault_read", object("path", path)) }
func searches(words string) reply      { return calls("code_search", object("query", words)) }
func searchesNotes(words string) reply { return calls("vault_search", object("query", words)) }
func writes(path string) reply {
	return calls("vault_write", object("path", path, "mode", "create", "content", "No cache."))
}

// object is a JSON object of names and texts in turn.
func object(pairs ...string) string {
	fields := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		fields[pairs[i]] = pairs[i+1]
	}
	return encoded(fields)
}

func encoded(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// element is a tag around a text; its attributes follow the name.
func element(name, text string) string {
	tag, _, _ := strings.Cut(name, " ")
	return "<" + name + ">" + text + "</" + tag + ">"
}

// signal is a signal with these fields, name and value in turn.
func signal(kind string, fields ...string) string {
	b := &strings.Builder{}
	for i := 0; i+1 < len(fields); i += 2 {
		b.WriteString("\n" + element(fields[i], fields[i+1]))
	}
	return element(`signal type="`+kind+`"`, b.String()+"\n")
}

func sufficient(confidence string) string {
	return signal("context_sufficient", "sources_found", "1", "confidence", confidence)
}

// The signals, as they are asked for.
func done() reply { return says(sufficient("0.9")) }
func goesOn(reason string) reply {
	return says(signal("need_turn", "reason", reason, "confidence", "0.8"))
}
func isStuck(blocker, suggestion string) reply {
	return says(signal("stuck", "attempted", `["search"]`, "blocker", blocker, "suggestions", `["`+suggestion+`"]`,
		"confidence", "0.8"))
}
func wants(capability string) reply {
	return says(signal("need_capability", "capability", capability, "reason", "the decision is written down there",
		"confidence", "0.8"))
}
func lacksPart(missing, caveat string) reply {
	return says(signal("partial_answer", "missing", missing, "caveat", caveat, "confidence", "0.7"))
}
func delegates(scope string) reply {
	return says(signal("delegation_recommended", "reason", "it is too large", "scope", scope, "confidence", "0.8"))
}

// thinks is reasoning that stands in the text.
func thinks(text string) reply { return says(element("think", text)) }

// answer is the reply as a fake provider sends it: the text in small pieces, and each call with a name of its own.
func (r reply) answer(h heard) modeltest.Answer {
	a := modeltest.Answer{Finish: r.finish, Fail: r.fail, Raw: r.raw, Calls: slices.Clone(r.calls)}
	for text := []rune(r.text); len(text) > 0; {
		n := min(7, len(text))
		a.Chunks, text = append(a.Chunks, string(text[:n])), text[n:]
	}
	for i := range a.Calls {
		a.Calls[i].ID = fmt.Sprintf("call_%d_%d", h.replies, i)
	}
	return a
}
