package schema_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/schema"
)

type asked struct {
	Title  string        `json:"title" min:"2" max:"5" doc:"what it is"`
	Count  int64         `json:"count,omitempty" min:"1" default:"7"`
	Share  float64       `json:"share,omitempty" min:"0" max:"1"`
	Kind   string        `json:"kind,omitempty" enum:"tea,milk"`
	IDs    []int64       `json:"ids,omitempty" min:"1" max:"2"`
	Names  []string      `json:"names,omitempty" flag:",n"`
	Sure   *bool         `json:"sure,omitempty" setting:"a.sure"`
	Open   bool          `json:"open,omitempty"`
	Within time.Duration `json:"within_seconds,omitempty" flag:"within" min:"5" max:"90" none:"no limit" setting:"a.within"`
	Where  schema.Folder `json:"where,omitempty" names:"folder" setting:"a.where"`
	Who    schema.Folder `json:"who,omitempty" names:"witness"`
	Model  string        `json:"model,omitempty" names:"model" setting:"a.model"`
	Here   bool          `json:"-" flag:"here"`
	inner  bool          //nolint:unused // what is not exported is no option
}

func read(raw string) (asked, error) {
	o := schema.Of[asked]()
	into := o.New(nil).(*asked)
	err := o.Decode(json.RawMessage(raw), into)
	return *into, err
}

func TestValuesAreReadAsTheirFieldsSay(t *testing.T) {
	for raw, want := range map[string]asked{
		`{"title":"tea"}`:                          {Title: "tea", Count: 7},
		`{"title":"tea","count":9007199254740993}`: {Title: "tea", Count: 9007199254740993},
		`{"title":"tea","count":3.0,"kind":null}`:  {Title: "tea", Count: 3},
		`{"title":"ää","share":0.5,"kind":"milk","open":true}`: {Title: "ää", Count: 7, Share: 0.5, Kind: "milk",
			Open: true},
		`{"title":"tea","ids":[1,2],"sure":false}`: {Title: "tea", Count: 7, IDs: []int64{1, 2},
			Sure: new(false)},
		`{"title":"tea","within_seconds":90,"where":"home"}`: {Title: "tea", Count: 7, Within: 90 * time.Second,
			Where: schema.Folder{Name: "home"}},
	} {
		got, err := read(raw)
		diff := cmp.Diff(want, got, cmp.AllowUnexported(asked{}))
		assert.That(t, diff == "" && err == nil, "%s: %v\n%s", raw, err, diff)
	}
}

// What is refused, the JSON Schema refuses too, and the other way round; and what was sent is never repeated.
func TestValuesThatDoNotFitAreToldByTheirFieldAndNotRepeated(t *testing.T) {
	document := assert.Must(jsonschema.UnmarshalJSON(strings.NewReader(string(schema.Of[asked]().JSON()))))(t)
	compiler := jsonschema.NewCompiler()
	assert.NoError(t, compiler.AddResource("asked.json", document))
	published := assert.Must(compiler.Compile("asked.json"))(t)
	for raw, want := range map[string]schema.Error{
		``:                     {Field: "title", Problem: "is missing"},
		`{"title":null}`:       {Field: "title", Problem: "is missing"},
		`["hunter2"]`:          {Field: "arguments", Problem: "must be a JSON object"},
		`{"hunter2":1}`:        {Field: "arguments", Problem: "have a name that is not known"},
		`{"Title":"x"}`:        {Field: "arguments", Problem: "have a name that is not known"},
		`{"inner":true}`:       {Field: "arguments", Problem: "have a name that is not known"},
		`{"here":true}`:        {Field: "arguments", Problem: "have a name that is not known"},
		"{\"title\":\"\xff\"}": {Field: "arguments", Problem: "must be valid UTF-8"},
		`{"title":"hunter2"}`:  {Field: "title", Problem: "has 7 characters; 5 at most"},
		`{"title":"x"}`:        {Field: "title", Problem: "must be a text from 2 to 5 characters"},
		`{"count":0}`:          {Field: "count", Problem: "must be a whole number from 1 on"},
		`{"count":1.5}`:        {Field: "count", Problem: "must be a whole number from 1 on"},
		`{"count":1e300}`:      {Field: "count", Problem: "must be a whole number from 1 on"},
		`{"share":2}`:          {Field: "share", Problem: "must be a number from 0 to 1"},
		`{"kind":"hunter2"}`:   {Field: "kind", Problem: "must be tea or milk"},
		`{"ids":[]}`:           {Field: "ids", Problem: "must be a list from 1 to 2 entries, each a whole number"},
		`{"ids":["hunter2"]}`:  {Field: "ids", Problem: "must be a list from 1 to 2 entries, each a whole number"},
		`{"sure":"hunter2"}`:   {Field: "sure", Problem: "must be true or false"},
		`{"within_seconds":4}`: {Field: "within_seconds", Problem: "must be a whole number from 5 to 90"},
		`{"model":"hunter2 b"}`: {Field: "model",
			Problem: "must be a model, as provider:model or by its name, in one word of at most 200 characters"},
		`{"model":"a\u0000b"}`: {Field: "model",
			Problem: "must be a model, as provider:model or by its name, in one word of at most 200 characters"},
	} {
		whole := raw
		if want.Field != "title" && want.Field != "arguments" {
			whole = `{"title":"tea",` + raw[1:]
		}
		_, err := read(whole)
		got, ok := errors.AsType[*schema.Error](err)
		assert.That(t, ok && got.Field == want.Field && strings.HasPrefix(got.Problem, want.Problem) &&
			!strings.Contains(err.Error(), "hunter2"), "%s: %v; want %v", whole, err, &want)
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(whole))
		assert.That(t, err != nil || published.Validate(value) != nil || want.Field == "arguments" ||
			strings.Contains(raw, "e300"), "%s fits the schema that is published", whole)
	}
}

func TestListThatAModelIsAskedForNeedsABound(t *testing.T) {
	type bounded struct {
		All []struct {
			Names []string `json:"names" max:"3"`
		} `json:"all" max:"2"`
	}
	text := string(schema.Answer[bounded]())
	assert.That(t, strings.Count(text, `"maxItems"`) == 2, "%s", text)
	defer func() {
		said, _ := recover().(string)
		assert.Contains(t, "what the declaration lacks", said, "names", "without a max")
	}()
	schema.Answer[struct {
		All []struct {
			Names []string `json:"names"`
		} `json:"all" max:"2"`
	}]()
}

func TestFlagsAndSettingsSayWhatJSONSays(t *testing.T) {
	o := schema.Of[asked]()
	fields := map[string]*schema.Field{}
	for _, f := range o.Fields {
		name, _ := f.Flag()
		fields[name] = f
	}
	into := o.New(nil).(*asked)
	for _, one := range [][2]string{{"title", "tea"}, {"count", "3"}, {"names", "a"}, {"names", "b,c"},
		{"open", "true"}, {"within", "1m5s"}, {"where", "home"}, {"here", "true"}, {"sure", "false"}} {
		assert.Nilf(t, fields[one[0]].SetText(into, one[1]), "%s", one)
	}
	want := asked{Title: "tea", Count: 3, Names: []string{"a", "b,c"}, Open: true, Within: 65 * time.Second,
		Where: schema.Folder{Name: "home"}, Here: true, Sure: new(false)}
	assert.Same(t, want, *into, cmp.AllowUnexported(asked{}))
	for _, wrong := range [][3]string{{"count", "0", "whole number from 1 on"},
		{"within", "4s", "a time from 5s to 1m30s, or 0: no limit"}, {"within", "soon", "a time"},
		{"open", "so", "true or false"}} {
		err := fields[wrong[0]].SetText(into, wrong[1])
		assert.That(t, err != nil && strings.Contains(err.Error(), wrong[2]), "%s: %v", wrong, err)
	}
	if err := fields["within"].SetText(into, "0"); err != nil || into.Within != 0 {
		t.Errorf("none: %v, %v", into.Within, err)
	}

	settings := map[string]string{"a.sure": "true", "a.within": "1m0s", "a.where": "/srv/home", "a.model": "a:b"}
	into = o.New(nil).(*asked)
	err := o.FillFromSettings(into, func(path string) string {
		return settings[path]
	}, func(f *schema.Field) bool { return f.Name == "model" })
	want = asked{Count: 7, Sure: new(true), Within: time.Minute, Where: schema.Folder{Path: "/srv/home"}}
	diff := cmp.Diff(want, *into, cmp.AllowUnexported(asked{}))
	assert.That(t, diff == "" && err == nil, "%v\n%s", err, diff)
	settings["a.within"] = "2h"
	err = o.FillFromSettings(into, func(path string) string {
		return settings[path]
	}, func(*schema.Field) bool { return false })
	assert.That(t, err != nil && strings.Contains(err.Error(), "a.within"), "a setting out of its bounds: %v", err)
}

func TestFoldersAreFoundByTheirNamesAndAModelIsNone(t *testing.T) {
	o := schema.Of[asked]()
	none := errors.New("there is no such folder")
	find := func(f *schema.Field, name string) (string, error) {
		if name != "home" {
			return "", none
		}
		return "/srv/" + f.Name, nil
	}
	into := &asked{Where: schema.Folder{Name: "home"}, Who: schema.Folder{Name: "a:b"}}
	err := o.FindFolders(into, find)
	assert.That(t, err == nil && into.Where.Path == "/srv/where" && into.Who == (schema.Folder{Name: "a:b"}),
		"%+v, %v", into, err)
	for _, wrong := range []asked{{Where: schema.Folder{Name: "a:b"}}, {Who: schema.Folder{Name: "away"}}} {
		assert.ErrorIsf(t, o.FindFolders(&wrong, find), none, "%+v", wrong)
	}
}
