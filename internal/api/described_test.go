package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"sibyl/internal/api"
	"sibyl/internal/council"
	"sibyl/internal/council/persona"
)

// held holds an answer against a schema of the description.
type held func(about, schema string, a answer)

// described readies holding answers against what the house says of them.
func (h *house) described() held {
	h.Helper()
	raw := h.get(question{path: "/openapi.json", token: "-"}, nil).body
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		h.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("openapi.json", whole); err != nil {
		h.Fatal(err)
	}
	return func(about, schema string, a answer) {
		h.Helper()
		compiled, err := compiler.Compile("openapi.json#/components/schemas/" + schema)
		if err != nil {
			h.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.body))
		if err == nil {
			err = compiled.Validate(value)
		}
		if err != nil {
			h.Errorf("%s: %v in %s", about, err, a.body)
		}
		if null := nullAt("", value); null != "" {
			h.Errorf("%s: null at %s in %s", about, null, a.body)
		}
	}
}

// What is served is what is described: each answer is held against the schema of its status.
func TestAnswersAreAsTheDescriptionSays(t *testing.T) {
	h := newHouse(t).open()
	conforms := h.described()
	conforms("nothing", "Runs", h.get(question{path: "/api/runs"}, nil))
	conforms("nothing", "Sessions", h.get(question{path: "/api/sessions"}, nil))
	release := h.holds("ada")
	begun := h.get(question{method: "POST", path: "/api/runs", body: asking("Tea?")}, nil)
	conforms("begun", "Begun", begun)
	var b api.Begun
	if err := json.Unmarshal(begun.body, &b); err != nil {
		t.Fatal(err)
	}
	at, session := "/api/runs/"+b.Run, "/api/sessions/"+b.Session
	look := func(when string) {
		conforms(when, "RunWithResult", h.get(question{path: at}, nil))
		conforms(when, "Explanation", h.get(question{path: at + "/explanation"}, nil))
		conforms(when, "Tree", h.get(question{path: at + "/tree"}, nil))
		conforms(when, "Conversation", h.get(question{path: session}, nil))
		conforms(when, "Conversation", h.get(question{path: session + "/export?format=json"}, nil))
		conforms(when, "Audit", h.get(question{path: session + "/audit"}, nil))
		conforms(when, "Runs", h.get(question{path: "/api/runs"}, nil))
		conforms(when, "Sessions", h.get(question{path: "/api/sessions"}, nil))
	}
	look("while it goes on")
	conforms("stopped", "Begun", h.get(question{method: "POST", path: at + "/cancel"}, nil))
	h.ended("", b.Run)
	look("after a stop")
	release()
	h.answers("ada")
	next := asking("Milk?")
	next["session"] = b.Session
	b = h.begun(next)
	h.ended("", b.Run)
	look("after an answer")
	conforms("renamed", "Session", h.get(question{method: "PATCH", path: session, body: map[string]string{"title": "x"}}, nil))
	conforms("me", "Me", h.get(question{path: "/api/me"}, nil))
	conforms("assistants", "Assistants", h.get(question{path: "/api/assistants"}, nil))
	for _, q := range []question{{path: "/api/runs/x"}, {path: "/api/runs?limit=x"}, {path: "/nope"}, {path: "/api/me", token: "-"}, {method: "POST", path: "/api/runs", body: "x"}} {
		conforms(q.path, "Problem", h.ask(q))
	}
}

func TestAnswersOfTheCouncilAreAsTheDescriptionSays(t *testing.T) {
	h := withCouncil(t)
	h.transcribe = func(context.Context, string) (string, error) { return "It is loud.", nil }
	h.open()
	conforms := h.described()
	conforms("nothing", "CouncilSessions", h.get(question{path: councils}, nil))
	conforms("nothing", "CouncilHits", h.get(question{path: "/api/council/search?q=tea"}, nil))
	var s council.Opened
	begun := h.get(question{method: "POST", path: councils, body: map[string]any{}}, &s)
	conforms("begun", "CouncilSession", begun)
	at := councils + "/" + s.ID
	conforms("without words", "CouncilExport", h.get(question{path: at + "/export?format=json"}, nil))
	conforms("words", "CouncilAdded", h.get(question{method: "POST", path: at + "/entries", body: map[string]any{"text": offer}}, nil))
	var added api.CouncilAdded
	conforms("a recording", "CouncilAdded", h.get(upload(s.ID, "", "audio/ogg", "OggS"), &added))
	h.over(added.Transcription.Run)
	conforms("the same", "CouncilAdded", h.get(upload(s.ID, "", "audio/ogg", "OggS"), nil))
	asked := map[string]any{"oracles": []string{"skeptic", "optimist"}}
	conforms("asked", "RunWithResult", h.get(answersOf(s.ID, asked), nil))
	conforms("asked before", "CouncilPrompts", h.get(question{method: "POST", path: at + "/preview", body: asked}, nil))
	conforms("transcribed", "Begun", h.get(question{method: "POST", path: at + "/transcription", body: map[string]any{}}, nil))
	conforms("with all", "CouncilSession", h.get(question{path: at}, nil))
	conforms("with all", "CouncilExport", h.get(question{path: at + "/export?format=json"}, nil))
	conforms("with all", "CouncilSessions", h.get(question{path: councils}, nil))
	conforms("words", "CouncilTranscript", h.get(question{path: at + "/entries/1/transcript"}, nil))
	conforms("an answer", "CouncilResponse", h.get(question{path: at + "/responses/2"}, nil))
	conforms("found", "CouncilHits", h.get(question{path: "/api/council/search?q=office"}, nil))
	conforms("repaired", "CouncilRepaired", h.get(question{method: "POST", path: at + "/repair"}, nil))
	conforms("changed", "CouncilSession", h.get(question{method: "PATCH", path: at, body: map[string]any{"name": "x"}}, nil))
	var all persona.Listing
	conforms("oracles", "CouncilOracles", h.get(question{path: oracles}, &all))
	conforms("an oracle", "CouncilOracle", h.get(question{path: oracles + "/" + all.Oracles[0].ID}, nil))
	conforms("deleted", "CouncilTrashed", h.get(question{method: "DELETE", path: at}, nil))
	for _, q := range []question{{path: at}, {path: councils + "?limit=x"}, upload(s.ID, "", "text/html", "x")} {
		conforms(q.path, "Problem", h.ask(q))
	}
}

func TestAnswersOfTheInquiryAreAsTheDescriptionSays(t *testing.T) {
	h, _ := withInquiry(t)
	asked, release := h.silentFrom(2)
	h.open()
	conforms := h.described()
	conforms("nothing", "Inquiries", h.get(question{path: inquiries}, nil))
	var b api.InquiryBegun
	begun := h.get(inquires("", ""), &b)
	conforms("begun", "InquiryBegun", begun)
	at := inquiries + "/" + b.ID
	h.comes("the second question", asked)
	conforms("while it goes on", "InquirySession", h.get(question{path: at}, nil))
	conforms("while it goes on", "Inquiries", h.get(question{path: inquiries}, nil))
	conforms("a second one", "Problem", h.ask(inquires("", "")))
	conforms("stopped", "InquiryBegun", h.get(question{method: "POST", path: at + "/stop"}, nil))
	h.over(b.Run)
	conforms("stopped", "InquirySession", h.get(question{path: at}, nil))
	release()
	at, _ = h.inquired()
	conforms("ended", "InquirySession", h.get(question{path: at}, nil))
	conforms("ended", "InquirySession", h.get(question{path: at + "/export?format=json"}, nil))
	conforms("with all", "Inquiries", h.get(question{path: inquiries}, nil))
	conforms("verified", "InquiryReport", h.get(verifies("?documents=reports", "application/json", string(h.get(question{path: at}, nil).body)), nil))
	for _, q := range []question{{path: at + "0"}, {path: inquiries + "?limit=x"}, verifies("", "image/png", "x")} {
		conforms(q.path, "Problem", h.ask(q))
	}
}

// nullAt is where a value holds a null: nowhere should one be, but for what an assistant has in a form of its own.
func nullAt(at string, v any) string {
	switch v := v.(type) {
	case nil:
		if strings.HasPrefix(at, ".result.outcome.") || strings.HasPrefix(at, ".exchanges[") {
			return ""
		}
		return at + " "
	case []any:
		for i, one := range v {
			if where := nullAt(fmt.Sprintf("%s[%d]", at, i), one); where != "" {
				return where
			}
		}
	case map[string]any:
		for name, one := range v {
			if where := nullAt(at+"."+name, one); where != "" {
				return where
			}
		}
	}
	return ""
}
