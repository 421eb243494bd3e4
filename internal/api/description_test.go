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

	"sibyl/internal/behaviour/assert"
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
	o := assert.Must(oracle.New(oracle.Deps{}))(h)
	return oracle.Describe(o, oracle.Surroundings{Store: teststore.Empty(h)})
}

// theTasks is the task assistant, with nothing behind it.
func theTasks(h *house) *assistant.Assistant {
	a := assert.Must(taskchat.New(taskchat.Deps{}))(h)
	return taskchat.Describe(a, taskchat.Deps{})
}

// theCouncil is the assistants of the Council, with the house behind them.
func theCouncil(h *house) []*assistant.Assistant {
	a := assert.Must(council.New(*h.config.Council))(h)
	main := council.Describe(a, *h.config.Council)
	return []*assistant.Assistant{main, council.DescribeTranscription(main, *h.config.Council),
		council.DescribeMember(main, *h.config.Council)}
}

// theInquiry is the assistant of the Inquiry, with the house behind it.
func theInquiry(h *house) *assistant.Assistant {
	a := assert.Must(inquiry.New(h.config.Inquiry.Deps))(h)
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
		assert.NoError(t, os.WriteFile(golden, served.body, 0o644))
	}
	kept := assert.Must(os.ReadFile(golden))(t)
	assert.NoDiff(t, cmp.Diff(string(kept), string(served.body)),
		"%s is not what is served; -update writes it anew (-kept +served)", golden)
	var fromJSON, fromYAML any
	assert.NoError(t, json.Unmarshal(served.body, &fromJSON))
	assert.NoError(t, yaml.Unmarshal(h.get(question{path: "/openapi.yaml", token: "-"}, nil).body, &fromYAML))
	again := assert.Must(json.Marshal(fromYAML))(t)
	var yamlAsJSON any
	assert.NoError(t, json.Unmarshal(again, &yamlAsJSON))
	assert.NoDiff(t, cmp.Diff(fromJSON, yamlAsJSON), "the description in YAML is another (-JSON +YAML)")
}

// What huma makes is valid; that the whole is, with what is added to it here, is checked.
func TestDescriptionIsValid(t *testing.T) {
	h := newHouse(t).open()
	raw := h.get(question{path: "/openapi.json", token: "-"}, nil).body
	var doc struct {
		Paths      map[string]map[string]struct{ OperationID, Summary string }
		Components struct{ Schemas, Responses map[string]json.RawMessage }
	}
	assert.NoError(t, json.Unmarshal(raw, &doc))
	compiler := jsonschema.NewCompiler() // OpenAPI 3.1 has the schemas of draft 2020-12
	whole := assert.Must(jsonschema.UnmarshalJSON(bytes.NewReader(raw)))(t)
	assert.NoError(t, compiler.AddResource("openapi.json", whole))
	for name := range doc.Components.Schemas {
		_, err := compiler.Compile("openapi.json#/components/schemas/" + name)
		assert.That(t, err == nil, "schema %s: %v", name, err)
	}
	ids := map[string]bool{}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			assert.That(t, !ids[op.OperationID] && op.OperationID != "" && op.Summary != "",
				"%s %s is called %q, %q", method, path, op.OperationID, op.Summary)
			ids[op.OperationID] = true
		}
	}
	assert.Lacks(t, "it", string(raw), "ErrorModel", "ErrorDetail", "$schema", `"null"`)
	for _, part := range strings.Split(string(raw), `"$ref": "#/components/`)[1:] {
		ref, _, _ := strings.Cut(part, `"`)
		kind, name, _ := strings.Cut(ref, "/")
		assert.That(t, (kind != "schemas" || doc.Components.Schemas[name] != nil) && (kind != "responses" ||
			doc.Components.Responses[name] != nil), "it refers to %s, which is not there", ref)
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
		assert.That(t, s["type"] != nil || s["$ref"] != nil || s["anyOf"] != nil || s["oneOf"] != nil,
			"nothing is said of %s", at)
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
	assert.That(t, seen >= 100, "only %d values were looked at", seen)
}

func TestAnotherAPIBesideThisOneIsAsItWouldBeWithout(t *testing.T) {
	before := reflect.ValueOf(huma.NewError).Pointer()
	newHouse(t).open()
	after := reflect.ValueOf(huma.NewError).Pointer()
	assert.That(t, after == before && huma.DefaultArrayNullable && !huma.ValidateStrictCasing,
		"settings of huma for the whole process were changed")
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
			assert.That(t, described[one[1]] != "", "%s: %q is not among the reasons of its assistant", path, one[1])
		}
		return err
	})
	assert.That(t, err == nil && found >= 55, "%d reasons are declared, %v", found, err)
}

// held holds an answer against a schema of the description.
type held func(about, schema string, a answer)

// described readies holding answers against what the house says of them.
func (h *house) described() held {
	h.Helper()
	raw := h.get(question{path: "/openapi.json", token: "-"}, nil).body
	whole := assert.Must(jsonschema.UnmarshalJSON(bytes.NewReader(raw)))(h)
	compiler := jsonschema.NewCompiler()
	assert.NoError(h, compiler.AddResource("openapi.json", whole))
	return func(about, schema string, a answer) {
		h.Helper()
		compiled := assert.Must(compiler.Compile("openapi.json#/components/schemas/" + schema))(h)
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.body))
		if err == nil {
			err = compiled.Validate(value)
		}
		assert.That(h, err == nil, "%s: %v in %s", about, err, a.body)
		null := nullAt("", value)
		assert.That(h, null == "", "%s: null at %s in %s", about, null, a.body)
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
