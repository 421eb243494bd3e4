package record

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"sibyl/internal/behaviour/assert"
)

var update = flag.Bool("update", false, "write docs/inquiry.schema.json anew")

const golden = "../../../docs/inquiry.schema.json"

// formText is the schema as the documents have it.
func formText(t testing.TB) string {
	t.Helper()
	return string(assert.Must(json.MarshalIndent(form(), "", "  "))(t)) + "\n"
}

// published is the schema as another library has it, with formats checked.
func published(t testing.TB) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	form := assert.Must(jsonschema.UnmarshalJSON(strings.NewReader(formText(t))))(t)
	assert.NoError(t, c.AddResource("inquiry.schema.json", form))
	return assert.Must(c.Compile("inquiry.schema.json"))(t)
}

func TestTheSchemaIsOfDraft07AndStandsAlone(t *testing.T) {
	s := published(t)
	assert.That(t, s.DraftVersion == 7, "it is of draft %d", s.DraftVersion)
	text := formText(t)
	if *update {
		assert.NoError(t, os.WriteFile(golden, []byte(text), 0o644))
	}
	diff := cmp.Diff(content(t, golden), text)
	assert.That(t, diff == "",
		"the program has another schema than the documents; -update writes them anew (-documents "+"+program):\n%s", diff)
	for part := range strings.SplitSeq(text, `"$ref": "`) {
		ref, _, _ := strings.Cut(part, `"`)
		assert.That(t, strings.HasPrefix(part, "{") || strings.HasPrefix(ref, "#/definitions/"), "it refers to %s", ref)
	}
}

// within reports what the requirement says of a value and the schema does not.
func within(t *testing.T, path string, required, ours, whole map[string]any) {
	t.Helper()
	if ref, ok := ours["$ref"].(string); ok {
		if required["$ref"] == ref {
			return
		}
		ours = whole["definitions"].(map[string]any)[strings.TrimPrefix(ref, "#/definitions/")].(map[string]any)
	}
	for key, want := range required {
		got := ours[key]
		switch key {
		case "properties":
			for name, property := range want.(map[string]any) {
				mine, there := got.(map[string]any)[name].(map[string]any)
				if !there {
					t.Errorf("%s.%s is missing", path, name)
					continue
				}
				within(t, path+"."+name, property.(map[string]any), mine, whole)
			}
		case "items":
			within(t, path+"[]", want.(map[string]any), got.(map[string]any), whole)
		default:
			assert.That(t, cmp.Equal(got, want), "%s: “%s” is %v, and the requirement says %v", path, key, got, want)
		}
	}
}

func TestTheSchemaSaysAllThatTheRequirementSays(t *testing.T) {
	var required, ours map[string]any
	assert.NoError(t, json.Unmarshal([]byte(content(t, "testdata/requirement.schema.json")), &required))
	assert.NoError(t, json.Unmarshal([]byte(formText(t)), &ours))
	within(t, "", required, ours, ours)
}

func TestTheExamplesOfTheRequirementAreReadWrittenAndValid(t *testing.T) {
	text := content(t, "testdata/examples.json")
	s := assert.Must(Unmarshal([]byte(text)))(t)
	assert.That(t, s.Hypothesis.Text == "Summarize the health benefits of Vitamin B3" &&
		s.Pairs[2].ProviderUsed == "openai:gpt-4o" && s.Pairs[0].Timestamp.After(s.StartTime), "it is read as %+v", s)
	broken := Check([]byte(text))
	assert.That(t, len(broken) == 0, "it breaks %v", broken)
	var want, got any
	out := assert.Must(Marshal(s))(t)
	text = strings.NewReplacer("14:31:00.250Z", "14:31:00.25Z").Replace(text) // the same time
	for text, into := range map[string]*any{text: &want, string(out): &got} {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		assert.NoError(t, d.Decode(into))
	}
	assert.NoDiff(t, cmp.Diff(want, got), "it is written with another meaning")
}
