package config

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
)

func explain(t *testing.T, file string, environ ...string) (Config, Lines, setup) {
	t.Helper()
	s := newSetup(t, file, environ...)
	opts := Options{Environ: s.environ, Home: s.home}
	lines := assert.Must(Explain(opts))(t)
	cfg := assert.Must(Load(opts))(t)
	return cfg, lines, s
}

func TestExplainSaysWhereEachSettingComesFrom(t *testing.T) {
	_, lines, s := explain(t, "max_turns: 7\nmodel: openai\nproviders:\n  groq:\n    base_url: https://g.test/v1\n",
		"SIBYL_MODEL=ollama", "OPENAI_MODEL=m")
	got := map[string]Line{}
	for _, l := range lines {
		got[l.Path] = l
	}
	for path, want := range map[string]Line{
		"max_turns":               {Value: 7, From: s.file() + ":1"},
		"model":                   {Value: "ollama", From: "SIBYL_MODEL"},
		"retention":               {Value: "365d", From: "default"},
		"vault":                   {Value: nil, From: "default"},
		"timeouts.silence":        {Value: "1m0s", From: "default"},
		"providers.groq.base_url": {Value: "https://g.test/v1", From: s.file() + ":5"},
		"providers.groq.kind":     {Value: "openai", From: "default"},
		"providers.openai.model":  {Value: "m", From: "OPENAI_MODEL"},
	} {
		want.Path = path
		assert.Same(t, want, got[path])
	}
}

// What is shown is a configuration file that means the same.
func TestShownSettingsLoadToTheSame(t *testing.T) {
	file := strings.ReplaceAll(fullFile, `, "llm key"]`, "]")
	file = strings.ReplaceAll(strings.ReplaceAll(file, "[pass, show]", "[key-of-llm]"), "[pass, brave]",
		"[key-of-brave]")
	file = strings.ReplaceAll(file, "[pass, tavily]", "[key-of-tavily]")
	file = strings.ReplaceAll(strings.ReplaceAll(file, "[pass, wiki]", "[key-of-wiki]"), "[npx, -y, tracker-server]",
		"[tracker-server]")
	environ := []string{"GROQ_KEY=groq-0123456789", "WORK_KEY=work-0123456789", "MY_BRAVE=brave-0123456789",
		"MY_TAVILY=tavily-0123456789", "TRACKER_TOKEN=tracker-0123456789",
		"UNSET_TOKEN=set-0123456789", "WIKI_KEY=wiki-0123456789"}
	cfg, lines, s := explain(t, file, environ...)
	text := assert.Must(lines.YAML())(t)
	assert.NoError(t, os.WriteFile(s.file(), text, 0o600))
	again, err := s.load()
	assert.Require(t, err == nil, "%v in\n%s", err, text)
	diff := cmp.Diff(cfg, again, bySecret)
	assert.That(t, diff == "", "%s in\n%s", diff, text)
}

func TestShownSettingsHoldNoSecret(t *testing.T) {
	hex := "c4n4ry00112233445566778899aabbcc"
	_, lines, _ := explain(t, "model: openai:"+canary+"\nproviders:\n  a: {base_url: 'https://a.test', key_env: "+
		hex+"}\n"+
		"  b: {base_url: 'https://b.test', key_command: [pass, "+hex+"]}\n",
		"OPENAI_API_KEY="+canary, "BRAVE_API_KEY="+canary, "SIBYL_SEARXNG_URL=https://me:"+canary+"@s.test")
	asYAML := assert.Must(lines.YAML())(t)
	asJSON := assert.Must(json.Marshal(lines))(t)
	for _, text := range []string{string(asYAML), string(asJSON)} {
		assert.That(t, !strings.Contains(text, canary) && !strings.Contains(text, hex), "shown: %s", text)
		assert.That(t, strings.Contains(text, "https://s.test") && strings.Contains(text, "OPENAI_API_KEY") &&
			strings.Contains(text, "pass"), "not all that may be shown is: %s", text)
	}
}
