package oracle_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/oracle"
	"sibyl/internal/schema"
)

// readOptions reads options of the Oracle, where ‘home’ and ‘notes’ are folders.
func readOptions(raw string) (oracle.Options, error) {
	object := schema.Of[oracle.Options]()
	o := object.New(nil).(*oracle.Options)
	err := object.Decode([]byte(raw), o)
	if err == nil {
		err = object.FindFolders(o, func(_ *schema.Field, name string) (string, error) {
			if name != "home" && name != "notes" {
				return "", errors.New("there is no such folder")
			}
			return "/srv/" + name, nil
		})
	}
	return *o, err
}

func TestOptionsOfTheOracleAreReadFromJSON(t *testing.T) {
	for raw, want := range map[string]oracle.Options{
		"":     {},
		"null": {},
		`{"model":"","code":null,"max_turns":null,"fallback":null}`: {},
		`{"fallback":false}`:           {Fallback: new(false)},
		`{"web":true}`:                 {Web: new(true)},
		`{"model":"other:llama:8b"}`:   {Model: "other:llama:8b"},
		`{"max_turns":200}`:            {MaxTurns: 200},
		`{"max_tokens":1000}`:          {MaxTokens: 1000},
		`{"max_time_seconds":90}`:      {MaxTime: 90 * time.Second},
		`{"code":"home"}`:              {Code: schema.Folder{Name: "home", Path: "/srv/home"}},
		`{"vault":"notes"}`:            {Vault: schema.Folder{Name: "notes", Path: "/srv/notes"}},
		`{"material":"Tea for three"}`: {Material: "Tea for three"},
	} {
		got, err := readOptions(raw)
		diff := cmp.Diff(want, got)
		assert.That(t, diff == "" && err == nil, "%s: %v\n%s", raw, err, diff)
	}
}

func TestWrongOptionsOfTheOracleAreToldWithoutWhatTheyHold(t *testing.T) {
	for raw, want := range map[string]string{
		`{"hunter2":1}`:               "have a name that is not known",
		`{"piped":true}`:              "have a name that is not known",
		`{"max_turns":0}`:             "max_turns must be a whole number from 1 to 200",
		`{"max_tokens":99999999999}`:  "max_tokens must be a whole number from 1000 to 10000000",
		`{"max_time_seconds":4}`:      "max_time_seconds must be a whole number from 5 to 3600",
		`{"fallback":"hunter2"}`:      "fallback must be true or false",
		`{"code":"hunter2"}`:          "there is no such folder",
		`{"model":"hunter2 hunter2"}`: "model must be provider:model, in one word of at most 200 characters",
	} {
		_, err := readOptions(raw)
		assert.That(t, err != nil && strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), "hunter2"),
			"%s: %v; want %q", raw, err, want)
	}
}
