package api_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"sibyl/internal/council"
	"sibyl/internal/inquiry"
	"sibyl/internal/oracle"
	"sibyl/internal/service/assistant"
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
	return []*assistant.Assistant{main, council.DescribeTranscription(main, *h.config.Council),
		council.DescribeMember(main, *h.config.Council)}
}

// theInquiry is the assistant of the Inquiry, with the house behind it.
func theInquiry(h *house) *assistant.Assistant {
	a, err := inquiry.New(h.config.Inquiry.Deps)
	if err != nil {
		h.Fatal(err)
	}
	return inquiry.Describe(a, h.config.Inquiry.Deps)
}

// withTheOracle is a house of the Oracle and its shadow, with nothing behind them.
func withTheOracle(t testing.TB) *house {
	h := newHouse(t)
	h.panel = theOracle(h)
	h.shadow = oracle.DescribeShadow(h.panel)
	return h
}

// withAll is a house with all assistants, with nothing or the house behind them.
func withAll(t testing.TB) *house {
	h := withTheOracle(t)
	h.others = append(h.others, theTasks(h), theInquiry(h))
	h.others = append(h.others, theCouncil(h)...)
	return h.open()
}

func TestDescriptionOfTheServerIsTheOneInTheDocuments(t *testing.T) {
	h := withAll(t)
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
		if kind == "schemas" && doc.Components.Schemas[name] == nil || kind == "responses" &&
			doc.Components.Responses[name] == nil {
			t.Errorf("it refers to %s, which is not there", ref)
		}
	}
}

// A value of which nothing is said is of no type in a client that is made from the description.
func TestDescriptionSaysOfEachValueWhatItIs(t *testing.T) {
	h := withTheOracle(t).open()
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
	if after := reflect.ValueOf(huma.NewError).Pointer(); after != before || !huma.DefaultArrayNullable ||
		huma.ValidateStrictCasing {
		t.Error("settings of huma for the whole process were changed")
	}
}

// Who words reasons in another language finds every one of them in the description.
func TestEveryReasonIsDescribed(t *testing.T) {
	var description struct {
		Components struct {
			Schemas struct {
				Event struct {
					Properties struct {
						Data struct {
							Reasons map[string]string `json:"x-reasons"`
						} `json:"data"`
					} `json:"properties"`
				} `json:"Event"`
			} `json:"schemas"`
		} `json:"components"`
	}
	withAll(t).get(question{path: "/openapi.json", token: "-"}, &description)
	described := description.Components.Schemas.Event.Properties.Data.Reasons
	declared := regexp.MustCompile(`(?m)^\s*(?:const )?\w+\s+bt\.Reason\s+= "([\w.]+): `)
	found := 0
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, one := range declared.FindAllStringSubmatch(string(text), -1) {
			found++
			if described[one[1]] == "" {
				t.Errorf("%s: %q is not among the reasons of its assistant", path, one[1])
			}
		}
		return err
	})
	if err != nil || found < 55 {
		t.Errorf("%d reasons are declared, %v", found, err)
	}
}

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
