package prompt_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/oracle/prompt"
	"sibyl/prompts"
)

// copyOf returns the embedded prompts as a map that a test can change.
func copyOf(t *testing.T, fsys fs.FS) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	names := assert.Must(fs.Glob(fsys, "oracle/*.md"))(t)
	for _, name := range names {
		data := assert.Must(fs.ReadFile(fsys, name))(t)
		files[name] = &fstest.MapFile{Data: data}
	}
	return files
}

func TestEveryEmbeddedPromptBelongsToASegment(t *testing.T) {
	var used []string
	for _, s := range embedded(t).Segments() {
		used = append(used, s.File)
	}
	for name := range copyOf(t, prompts.FS) {
		assert.That(t, slices.Contains(used, name), "%s is in no segment", name)
	}
}

func TestLoadNamesEveryFileThatIsMissing(t *testing.T) {
	files := copyOf(t, prompts.FS)
	delete(files, "oracle/signals.md")
	delete(files, "oracle/actions.md")
	_, err := prompt.Load(files)
	assert.That(t, errors.Is(err, fs.ErrNotExist) && strings.Contains(err.Error(), "oracle/signals.md") &&
		strings.Contains(err.Error(), "oracle/actions.md"), "error = %v, want one that names both files", err)
}

func TestLoadRefusesAnUnusableFileByName(t *testing.T) {
	for name, test := range map[string]struct{ content, want string }{
		"empty":    {"", "oracle/research.md: the prompt is empty"},
		"blank":    {" \n\t\n", "oracle/research.md: the prompt is empty"},
		"not text": {"caf\xe9", "oracle/research.md: the prompt is not UTF-8 text"},
		"endless":  {strings.Repeat("x", 200_000), "oracle/research.md: longer than 128000 bytes"},
		"unknown variable": {"One\ntwo {{turn}}\n",
			"oracle/research.md:2: unknown variable {{turn}}; known are {{max_turns}}, {{tools}}, {{sources}}, " +
				"{{missing}}, {{date}}, {{report_tool}}, {{bare_calls}}, {{callable}}"},
	} {
		t.Run(name, func(t *testing.T) {
			files := copyOf(t, prompts.FS)
			files["oracle/research.md"].Data = []byte(test.content)
			_, err := prompt.Load(files)
			assert.That(t, err != nil && strings.Contains(err.Error(), test.want), "error = %v, want %q in it", err, test.want)
		})
	}
}

func TestLoadAcceptsFilesOfAWindowsEditor(t *testing.T) {
	files := copyOf(t, prompts.FS)
	for _, file := range files {
		file.Data = []byte("\ufeff" + strings.ReplaceAll(string(file.Data), "\n", "\r\n"))
	}
	r := assert.Must(prompt.Load(files))(t)
	assert.That(t, string(r.Encoded()) == string(embedded(t).Encoded()),
		"byte order mark and line ends changed the prompts")
}

func TestOverlaidFileIsUsedInThePrompt(t *testing.T) {
	fsys := assert.Must(prompts.Overlay(
		fstest.MapFS{"oracle/code-analysis.md": {Data: []byte("# House rules\n\nCite in footnotes.")}}))(t)
	r := assert.Must(prompt.Load(fsys))(t)
	c := compose(t, r, situation("code"))
	assert.That(t, strings.Contains(c.Note, "Cite in footnotes.") && strings.Contains(c.Text, "# Signals"),
		"the prompt is not the embedded one with the overlaid segment")
}

func TestNewReportsEverythingThatIsWrong(t *testing.T) {
	_, err := prompt.New([]prompt.Segment{
		{ID: "a", File: "a.md", Content: "{{a}}"},
		{ID: "b", File: "b.md"},
	})
	for _, want := range []string{"a.md:1", "b.md: the prompt is empty"} {
		assert.That(t, err != nil && strings.Contains(err.Error(), want), "error = %v, want %q in it", err, want)
	}
}

func TestAllConditionsOfASegmentMustHold(t *testing.T) {
	r := assert.Must(prompt.New([]prompt.Segment{
		{ID: "both", File: "both.md", Content: "Both.", Conditions: []string{"query_type=code", "error=true"}},
	}))(t)
	for _, test := range []struct {
		queryType string
		failed    bool
		want      int
	}{{"code", true, 1}, {"code", false, 0}, {"research", true, 0}} {
		c := compose(t, r, prompt.Situation{QueryType: test.queryType, HadError: test.failed, MaxTurns: 1})
		assert.That(t, len(c.Segments) == test.want, "%+v: segments %v", test, ids(c))
	}
}

func TestRequiredSegmentsOverTheLimitAreRefusedAtLoad(t *testing.T) {
	segments := func(chars int) []prompt.Segment {
		return []prompt.Segment{
			{ID: "base", File: "base.md", Content: strings.Repeat("b", chars-len("\n\n")-1000)},
			{ID: "tools", File: "tools.md", Content: "{{#tools}}" + strings.Repeat("ü", 1000) + "{{tools}}{{/tools}}",
				Priority: 1},
		}
	}
	if _, err := prompt.New(segments(32_000)); err != nil {
		t.Errorf("exactly 8000 tokens: %v", err)
	}
	_, err := prompt.New(segments(32_001))
	assert.That(t, err != nil && strings.Contains(err.Error(), "base.md, tools.md take 8001 tokens"),
		"one character more: error = %v, want one that names the files and their size", err)
}

func TestJournaledSegmentsMakeAnEqualSet(t *testing.T) {
	r := embedded(t)
	recorded := assert.Must(json.Marshal(r.Segments()))(t)
	assert.That(t, string(recorded) == string(r.Encoded()), "the hash is not that of the journaled form")
	var segments []prompt.Segment
	assert.NoError(t, json.Unmarshal(recorded, &segments))
	again := assert.Must(prompt.New(segments))(t)
	assert.That(t, string(again.Encoded()) == string(r.Encoded()), "the set of the journaled segments differs")
	assert.NoDiff(t, cmp.Diff(compose(t, r, situation("code")), compose(t, again, situation("code"))), "(-first +again)")
}

func TestHashFollowsEveryFile(t *testing.T) {
	seen := map[string]string{string(embedded(t).Encoded()): "the embedded prompts"}
	for name := range copyOf(t, prompts.FS) {
		files := copyOf(t, prompts.FS)
		files[name].Data = append(files[name].Data, "One more line."...)
		r := assert.Must(prompt.Load(files))(t)
		other, taken := seen[string(r.Encoded())]
		assert.That(t, !taken, "a change of %s gives the hash of %s", name, other)
		seen[string(r.Encoded())] = name
	}
}

func TestSetIsNotChangedThroughItsSegments(t *testing.T) {
	r := embedded(t)
	segments := r.Segments()
	segments[0].Content = "Changed."
	segments[3].Conditions[0] = "always"
	assert.Same(t, embedded(t).Segments(), r.Segments())
}
