package api_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"sibyl/internal/api"
	"sibyl/internal/assistant"
	"sibyl/internal/council"
	"sibyl/internal/inquiry"
	"sibyl/internal/oracle"
	"sibyl/internal/store/teststore"
	"sibyl/internal/taskchat"
)

var update = flag.Bool("update", false, "write docs/openapi.json anew")

const golden = "../../docs/openapi.json"

// theOracle is the Oracle as app describes it, with nothing behind it.
func theOracle(h *house) *assistant.Assistant {
	o, err := oracle.New(oracle.Deps{})
	if err != nil {
		h.Fatal(err)
	}
	return oracle.Describe(o, oracle.Surroundings{Store: teststore.Empty(h)})
}

// theTasks is the task assistant, with nothing behind it.
func theTasks(h *house) *assistant.Assistant {
	a, err := taskchat.New(taskchat.Deps{})
	if err != nil {
		h.Fatal(err)
	}
	return taskchat.Describe(a, taskchat.Deps{})
}

// theCouncil is the assistants of the Council, with the house behind them.
func theCouncil(h *house) []*assistant.Assistant {
	a, err := council.New(*h.config.Council)
	if err != nil {
		h.Fatal(err)
	}
	main := council.Describe(a, *h.config.Council)
	return []*assistant.Assistant{main, council.DescribeTranscription(main, *h.config.Council), council.DescribeMember(main, *h.config.Council)}
}

// theInquiry is the assistant of the Inquiry, with the house behind it.
func theInquiry(h *house) *assistant.Assistant {
	a, err := inquiry.New(h.config.Inquiry.Deps)
	if err != nil {
		h.Fatal(err)
	}
	return inquiry.Describe(a, h.config.Inquiry.Deps)
}

func TestDescriptionOfTheServerIsTheOneInTheDocuments(t *testing.T) {
	h := newHouse(t)
	h.panel = theOracle(h)
	h.shadow = oracle.DescribeShadow(h.panel)
	h.others = append(h.others, theTasks(h), theInquiry(h))
	h.others = append(h.others, theCouncil(h)...)
	h.open()
	served := h.get(question{path: "/openapi.json", token: "-"}, nil)
	if *update {
		if err := os.WriteFile(golden, served.body, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(kept), string(served.body)); diff != "" {
		t.Errorf("%s is not what is served; -update writes it anew (-kept +served):\n%s", golden, diff)
	}
	var fromJSON, fromYAML any
	if err := json.Unmarshal(served.body, &fromJSON); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(h.get(question{path: "/openapi.yaml", token: "-"}, nil).body, &fromYAML); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(fromYAML)
	if err != nil {
		t.Fatal(err)
	}
	var yamlAsJSON any
	if err := json.Unmarshal(again, &yamlAsJSON); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fromJSON, yamlAsJSON); diff != "" {
		t.Errorf("the description in YAML is another (-JSON +YAML):\n%s", diff)
	}
}

// What huma makes is valid; that the whole is, with what is added to it here, is checked.
func TestDescriptionIsValid(t *testing.T) {
	h := newHouse(t).open()
	raw := h.get(question{path: "/openapi.json", token: "-"}, nil).body
	var doc struct {
		Paths      map[string]map[string]struct{ OperationID, Summary string }
		Components struct{ Schemas, Responses map[string]json.RawMessage }
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler() // OpenAPI 3.1 has the schemas of draft 2020-12
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if err := compiler.AddResource("openapi.json", whole); err != nil {
		t.Fatal(err)
	}
	for name := range doc.Components.Schemas {
		if _, err := compiler.Compile("openapi.json#/components/schemas/" + name); err != nil {
			t.Errorf("schema %s: %v", name, err)
		}
	}
	ids := map[string]bool{}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			if ids[op.OperationID] || op.OperationID == "" || op.Summary == "" {
				t.Errorf("%s %s is called %q, %q", method, path, op.OperationID, op.Summary)
			}
			ids[op.OperationID] = true
		}
	}
	for _, never := range []string{"ErrorModel", "ErrorDetail", "$schema", `"null"`, "422"} {
		if strings.Contains(string(raw), never) {
			t.Errorf("it has %s", never)
		}
	}
	for _, part := range strings.Split(string(raw), `"$ref": "#/components/`)[1:] {
		ref, _, _ := strings.Cut(part, `"`)
		kind, name, _ := strings.Cut(ref, "/")
		if kind == "schemas" && doc.Components.Schemas[name] == nil || kind == "responses" && doc.Components.Responses[name] == nil {
			t.Errorf("it refers to %s, which is not there", ref)
		}
	}
}

// A value of which nothing is said is of no type in a client that is made from the description.
func TestDescriptionSaysOfEachValueWhatItIs(t *testing.T) {
	h := newHouse(t)
	h.panel = theOracle(h)
	h.shadow = oracle.DescribeShadow(h.panel)
	h.open()
	var doc struct {
		Components struct{ Schemas map[string]any }
	}
	h.get(question{path: "/openapi.json", token: "-"}, &doc)
	seen := 0
	var look func(at string, schema any)
	look = func(at string, schema any) {
		seen++
		s, _ := schema.(map[string]any)
		if s["type"] == nil && s["$ref"] == nil && s["anyOf"] == nil && s["oneOf"] == nil {
			t.Errorf("nothing is said of %s", at)
		}
		if s["type"] == "array" {
			look(at+"[]", s["items"])
		}
		properties, _ := s["properties"].(map[string]any)
		for name, property := range properties {
			look(at+"."+name, property)
		}
		for _, key := range []string{"anyOf", "oneOf"} {
			all, _ := s[key].([]any)
			for i, one := range all {
				look(fmt.Sprintf("%s|%d", at, i), one)
			}
		}
	}
	for name, schema := range doc.Components.Schemas {
		look(name, schema)
	}
	if seen < 100 {
		t.Errorf("only %d values were looked at", seen)
	}
}

func TestAnotherAPIBesideThisOneIsAsItWouldBeWithout(t *testing.T) {
	before := reflect.ValueOf(huma.NewError).Pointer()
	newHouse(t).open()
	if after := reflect.ValueOf(huma.NewError).Pointer(); after != before || !huma.DefaultArrayNullable || huma.ValidateStrictCasing {
		t.Error("settings of huma for the whole process were changed")
	}
}

func TestOptionsOfTheOracleAreReadFromJSON(t *testing.T) {
	h := newHouse(t)
	h.panel = theOracle(h)
	h.shadow = oracle.DescribeShadow(h.panel)
	h.open()
	with := func(options string) question {
		return question{method: "POST", path: "/api/runs", body: `{"assistant":"oracle","words":"Tea?","options":` + options + `}`}
	}
	for options, says := range map[string]string{
		`[]`:                           "must be a JSON object",
		`{"hunter2":1}`:                "a name that is not known",
		`{"max_turns":0}`:              "Max_turns must be a whole number from 1 to 200",
		`{"max_turns":"hunter2"}`:      "whole number",
		`{"max_tokens":0}`:             "from 1000 to 10000000",
		`{"max_time_seconds":1e300}`:   "from 5 to 3600",
		`{"fallback":"hunter2"}`:       "true or false",
		`{"model":7}`:                  "one word",
		`{"model":"hunter2 hunter2"}`:  "one word",
		`{"model":"\u0000"}`:           "one word",
		`{"code":["/etc"]}`:            "must be a text",
		`{"vault":""}`:                 "must be a text",
		`{"code_root":"/etc/hunter2"}`: "a name that is not known",
	} {
		a := h.refused(options, with(options), 400, "invalid_request")
		if p := a.problem(); !strings.Contains(p.Detail, says) || strings.Contains(string(a.body), "hunter2") {
			t.Errorf("%s: %s", options, a.body)
		}
	}
	unknown := h.refused("a folder that is not there", with(`{"code":"nowhere"}`), 404, "no_folder")
	for _, name := range []string{"eves", "/srv/eves", "../eves", "code/../../eves"} {
		a := h.refused("the folder "+name, with(fmt.Sprintf(`{"vault":%q}`, name)), 404, "no_folder")
		if string(a.body) != string(unknown.body) {
			t.Errorf("another's folder is told apart: %s, %s", a.body, unknown.body)
		}
	}
	shadow := question{method: "POST", path: "/api/runs", body: `{"assistant":"` + oracle.ShadowName + `","words":"Tea?"}`}
	if a := h.refused("the shadow", shadow, 400, "invalid_request"); !strings.Contains(a.problem().Detail, "started by another assistant") {
		t.Errorf("of the shadow is said: %s", a.body)
	}
}

func TestCookieEndsWithItsToken(t *testing.T) {
	h := newHouse(t)
	h.config.Now = newClock().Now
	h.open()
	a := h.get(question{method: "POST", path: "/api/sign-in", token: "-", body: map[string]string{"token": adasOnce}}, nil)
	var me api.Me
	if err := json.Unmarshal(a.body, &me); err != nil {
		t.Fatal(err)
	}
	lasts := fmt.Sprintf("Max-Age=%.0f", me.ExpiresAt.Sub(h.config.Now()).Seconds())
	if set := a.header.Get("Set-Cookie"); !slices.Contains(strings.Split(set, "; "), lasts) {
		t.Errorf("the cookie is %s, and its token lasts %s", set, lasts)
	}
}
