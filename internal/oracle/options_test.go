package oracle_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"sibyl/internal/assistant"
	"sibyl/internal/oracle"
	"sibyl/internal/tool"
)

var errNoFolder = errors.New("there is no such folder")

// elsewhere is the Oracle with settings, and a decoder of options with the folders ‘home’ and ‘notes’.
func elsewhere() (*assistant.Assistant, func(raw string) (any, error)) {
	a := oracle.Describe(nil, oracle.Surroundings{Usual: oracle.Options{Model: "house:m", MaxTurns: 30, MaxTokens: 50_000},
		Least: oracle.Options{MaxTurns: 1, MaxTokens: 1000, MaxTime: 5 * time.Second}, Most: oracle.Options{MaxTurns: 200, MaxTokens: 10_000_000, MaxTime: time.Hour}})
	return a, func(raw string) (any, error) {
		return a.Decode(json.RawMessage(raw), func(name string) (string, error) {
			if name != "home" && name != "notes" {
				return "", errNoFolder
			}
			return "/srv/" + name, nil
		})
	}
}

func TestOptionsFromElsewhereAreTheSettingsWhereTheySayNothing(t *testing.T) {
	_, decode := elsewhere()
	usual := oracle.Options{Model: "house:m", MaxTurns: 30, MaxTokens: 50_000}
	with := func(change func(*oracle.Options)) oracle.Options {
		o := usual
		change(&o)
		return o
	}
	for raw, want := range map[string]oracle.Options{
		"":     usual,
		"null": usual,
		"{}":   usual,
		`{"model":"","code":null,"vault":null,"max_turns":null,"fallback":null}`: usual,
		`{"fallback":true}`:          usual,
		`{"fallback":false}`:         with(func(o *oracle.Options) { o.NoFallback = true }),
		`{"model":"other:llama:8b"}`: with(func(o *oracle.Options) { o.Model = "other:llama:8b" }),
		`{"max_turns":200}`:          with(func(o *oracle.Options) { o.MaxTurns = 200 }),
		`{"max_tokens":1000}`:        with(func(o *oracle.Options) { o.MaxTokens = 1000 }),
		`{"max_time_seconds":90}`:    with(func(o *oracle.Options) { o.MaxTime = 90 * time.Second }),
		`{"code":"home","vault":"notes"}`: with(func(o *oracle.Options) {
			o.CodeRoot, o.Vault, o.Named = "/srv/home", "/srv/notes", []tool.Source{tool.Code, tool.Vault}
		}),
		`{"web":true}`:  with(func(o *oracle.Options) { o.Named = []tool.Source{tool.Web} }),
		`{"web":false}`: with(func(o *oracle.Options) { o.NoWeb = true }),
	} {
		got, err := decode(raw)
		if diff := cmp.Diff(any(want), got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", raw, err, diff)
		}
	}
}

func TestWrongOptionsFromElsewhereAreToldWithoutWhatTheyHold(t *testing.T) {
	_, decode := elsewhere()
	for raw, public := range map[string]string{
		`[]`:                          "the options must be a JSON object",
		`"hunter2"`:                   "the options must be a JSON object",
		`{"hunter2":1}`:               "the options hold a name that the Oracle does not have",
		`{"Model":"hunter2"}`:         "the options hold a name that the Oracle does not have",
		`{"code_root":"/etc"}`:        "the options hold a name that the Oracle does not have",
		`{"max_turns":0}`:             "max_turns must be a whole number from 1 to 200",
		`{"max_turns":201}`:           "max_turns must be a whole number from 1 to 200",
		`{"max_turns":1.5}`:           "max_turns must be a whole number from 1 to 200",
		`{"max_turns":"hunter2"}`:     "max_turns must be a whole number from 1 to 200",
		`{"max_tokens":999}`:          "max_tokens must be a whole number from 1000 to 10000000",
		`{"max_tokens":99999999999}`:  "max_tokens must be a whole number from 1000 to 10000000",
		`{"max_time_seconds":4}`:      "max_time_seconds must be a whole number from 5 to 3600",
		`{"max_time_seconds":9e18}`:   "max_time_seconds must be a whole number from 5 to 3600",
		`{"fallback":"hunter2"}`:      "fallback must be true or false",
		`{"code":{}}`:                 "code must be a text",
		`{"model":"hunter2 hunter2"}`: "model must be provider:model, in one word of at most 200 bytes",
		`{"model":"hunter2\r\nX: y"}`: "model must be provider:model, in one word of at most 200 bytes",
		fmt.Sprintf(`{"model":%q}`, strings.Repeat("m", 201)): "model must be provider:model, in one word of at most 200 bytes",
	} {
		_, err := decode(raw)
		told, ok := errors.AsType[*assistant.RequestError](err)
		if !ok || told.Public != public || strings.Contains(told.Hint, "hunter2") {
			t.Errorf("%s: %v; want %q", raw, err, public)
		}
	}
	if _, err := decode(`{"hunter2":1}`); !strings.Contains(err.Error(), `"hunter2"`) || !strings.Contains(err.Error(), "max_turns") {
		t.Errorf("on this machine it is told as %v", err)
	}
	for _, raw := range []string{`{"code":"elsewhere"}`, `{"vault":""}`, `{"vault":"../home"}`} {
		if _, err := decode(raw); !errors.Is(err, errNoFolder) {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestSchemaOfOptionsTakesWhatIsRead(t *testing.T) {
	a, decode := elsewhere()
	schema, err := jsonschema.UnmarshalJSON(strings.NewReader(string(a.Schema)))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("options.json", schema); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("options.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, raw := range []string{`{}`, `{"model":"a:b","code":"home","vault":"notes","max_turns":1,"max_tokens":1000,"max_time_seconds":3600,"fallback":false}`,
		`{"x":1}`, `[]`, `{"max_turns":0}`, `{"max_turns":201}`, `{"max_tokens":1}`, `{"max_time_seconds":1.5}`, `{"fallback":1}`, `{"code":7}`} {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		_, read := decode(raw)
		if valid := compiled.Validate(value); (valid == nil) != (read == nil) {
			t.Errorf("%s: the schema says %v, and reading it %v", raw, valid, read)
		}
	}
}
