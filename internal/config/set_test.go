package config

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"sibyl/internal/behaviour/assert"
)

func (s setup) set(name string, words ...string) (Change, error) {
	return Set(Options{Environ: s.environ, Home: s.home}, name, words, nil)
}

func (s setup) unset(name string) (Change, error) {
	return Unset(Options{Environ: s.environ, Home: s.home}, name, nil)
}

func (s setup) content(t *testing.T) string {
	t.Helper()
	text := assert.Must(os.ReadFile(s.file()))(t)
	return string(text)
}

const commented = `# my settings
# on two lines

model: ollama:llama3.1:8b # the small one

# how long
max_turns: 12

web:
  # my server
  searxng: http://localhost:8888

  brave:
    key_env: MY_BRAVE # mine

providers:

  # at work
  work:
    base_url: https://llm.test/v1
    body:
      text: |
        one

        two

# the end
`

func TestASettingIsChangedWhereItStandsAndNothingElse(t *testing.T) {
	for _, c := range []struct{ name, value, old string }{{"max_turns", "13", "12"}, {"web.brave.key_env", "OTHER",
		"MY_BRAVE"}, {"model", "work:big", "ollama:llama3.1:8b"}} {
		s := newSetup(t, commented)
		done := assert.Must(s.set(c.name, c.value))(t)
		assert.Same(t, strings.Replace(commented, c.old, c.value, 1), s.content(t))
		lines := strings.Split(s.content(t), "\n")
		assert.That(t, strings.Contains(lines[done.Line-1], c.value) && done.File == s.file() && len(done.Left) == 0,
			"%+v", done)
	}
}

func TestASettingThatIsNotThereIsAddedToItsSection(t *testing.T) {
	for _, c := range []struct {
		file, name string
		words      []string
		want       string
	}{
		{"", "model", []string{"ollama:a"}, "model: ollama:a\n"},
		{"# only this\n", "timeouts.start", []string{"90s"}, "# only this\ntimeouts:\n  start: 90s\n"},
		{"web:\n  engine: brave\nmax_turns: 3\n", "web.searxng", []string{"http://s.test"},
			"web:\n  engine: brave\n  searxng: http://s.test\nmax_turns: 3\n"},
		{"web:\n    engine: brave\n", "timeouts.web", []string{"5s"},
			"web:\n    engine: brave\ntimeouts:\n    web: 5s\n"},
		{"web: {engine: brave}\n", "web.searxng", []string{"http://s.test"},
			"web: {engine: brave, searxng: 'http://s.test'}\n"},
		{"web:\n", "web.engine", []string{"brave"}, "web:\n  engine: brave\n"},
		{"web: # to come\n", "web.engine", []string{"brave"}, "web: # to come\n  engine: brave\n"},
		{"providers: {}\n", "providers.work.base_url", []string{"https://llm.test"},
			"providers:\n  work:\n    base_url: https://llm.test\n"},
		{"", "providers.openai.model", []string{"4"}, "providers:\n  openai:\n    model: \"4\"\n"},
		{"", "providers.openai.think", []string{"on"}, "providers:\n  openai:\n    think: on\n"},
		{"", "fallback.local_to_cloud", []string{"true"}, "fallback:\n  local_to_cloud: true\n"},
		{"", "vault", []string{"/notes # old"}, "vault: '/notes # old'\n"},
		{"", "fallback.models", []string{"openai:a", "ollama:b"}, "fallback:\n  models: ['openai:a', 'ollama:b']\n"},
		{"fallback:\n  models: # by price\n    - openai:x\n", "fallback.models", []string{"[openai:a, ollama:b]"},
			"fallback:\n  models: ['openai:a', 'ollama:b'] # by price\n"},
		{"", "ollama.body", []string{"{top_k: 20}"}, "ollama:\n  body: {top_k: 20}\n"},
	} {
		s := newSetup(t, c.file)
		if _, err := s.set(c.name, c.words...); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		assert.NoDiff(t, cmp.Diff(c.want, s.content(t)), "%s", c.name)
		_, err := s.load()
		assert.Nil(t, err)
	}
}

func TestNoSecretIsWrittenOrRepeated(t *testing.T) {
	const key = "sk-Zq8vT2nB7yH4mK9w1xR5c3"
	for _, c := range []struct{ name, value string }{
		{"providers.openai.key", key}, {"providers.openai.api_key", "plain"}, {"openai_api_key", key}, {"model", key},
		{"providers.openai.key_env", key},
		{"providers.openai.key_command", "[echo, " + key + "]"}, {"ollama.headers", "{Authorization: plain-secret}"},
		{key, "x"},
		{"providers.a.base_url", "https://me:plain-secret@a.test"}, {"database", "postgres://me:plain-secret@db.lan/x"},
	} {
		s := newSetup(t, "")
		_, err := s.set(c.name, c.value)
		if err == nil {
			t.Errorf("%s was taken", c.name)
		} else if strings.Contains(err.Error(), "Zq8vT2nB") || strings.Contains(err.Error(), "plain-secret") {
			t.Errorf("%s: the error repeats it: %v", c.name, err)
		}
		if _, err := os.Stat(s.file()); err == nil {
			t.Errorf("%s was written: %s", c.name, s.content(t))
		}
	}
	s := newSetup(t, "")
	_, err := s.set("providers.openai.api_key", "x")
	assert.That(t, err != nil && strings.Contains(err.Error(), "sibyl config set-key"), "no hint: %v", err)
}

func TestWhatWasWrongBeforeHindersNothing(t *testing.T) {
	s := newSetup(t, "colour: red\nmax_turns: 999\nsize: 3\n")
	done, err := s.set("max_turns", "30")
	assert.Require(t, err == nil && len(done.Left) == 2 && strings.Contains(done.Left[0].Error(), "colour"),
		"%+v, %v", done, err)
	done, err = s.unset("colour")
	assert.Require(t, err == nil && len(done.Left) == 1, "%+v, %v", done, err)
	done, err = s.unset("size")
	assert.Require(t, err == nil && len(done.Left) == 0, "%+v, %v", done, err)
	assert.Same(t, "max_turns: 30\n", s.content(t))
	_, err = newSetup(t, "model: [\n").set("max_turns", "3")
	assert.That(t, err != nil && strings.Contains(err.Error(), "nothing was written"), "a file that is no YAML: %v", err)
}

func TestUnsetTakesOutWhatIsEmptyThenAndKeepsComments(t *testing.T) {
	s := newSetup(t, "# top\nmodel: ollama:a\n# about the web\nweb:\n  # mine\n  brave:\n    key_env: X\nmax_turns: 3\n")
	assert.Must(s.unset("web.brave.key_env"))(t)
	got := s.content(t)
	assert.That(t, strings.HasPrefix(got, "# top\nmodel: ollama:a\n") && !strings.Contains(got, "web:") &&
		strings.Contains(got, "# about the web\n") && strings.HasSuffix(got, "max_turns: 3\n"), "left: %s", got)
	if _, err := s.unset("web"); err == nil || !strings.Contains(err.Error(), `no setting or section "web"`) {
		t.Errorf("what is not there: %v", err)
	}
	for _, name := range []string{"model", "max_turns"} {
		assert.Must(s.unset(name))(t)
	}
	if _, err := s.load(); err != nil || strings.Contains(s.content(t), "{") {
		t.Errorf("the empty file: %q, %v", s.content(t), err)
	}
}

func TestAVariableThatWinsIsTold(t *testing.T) {
	s := newSetup(t, "", "SIBYL_MAX_TURNS=5")
	done, err := s.set("max_turns", "7")
	assert.That(t, err == nil && done.Overridden == "SIBYL_MAX_TURNS", "%+v, %v", done, err)
	_, err = s.set("max_turns", "700")
	assert.That(t, err != nil, "a wrong value was written since a variable hides it")
	var checked int
	_, err = Set(Options{Environ: s.environ, Home: s.home}, "max_turns", []string{"8"}, func(cfg Config) error {
		checked = cfg.MaxTurns
		return nil
	})
	assert.That(t, err == nil && checked == 8, "what was checked is %d, %v", checked, err)
}

func TestAFileIsThePersonsAloneOrKeepsItsMode(t *testing.T) {
	s := newSetup(t, "")
	for _, mode := range []os.FileMode{0o600, 0o640} {
		assert.Must(s.set("max_turns", "4"))(t)
		info, err := os.Stat(s.file())
		assert.That(t, err == nil && info.Mode().Perm() == mode, "%v, %v; want %v", info, err, mode)
		assert.NoError(t, os.Chmod(s.file(), 0o640))
	}
}

// FuzzAnEditKeepsWhatTheFileMeans changes one setting of a file that holds, and looks at all others.
func FuzzAnEditKeepsWhatTheFileMeans(f *testing.F) {
	f.Add(commented)
	f.Add(fullFile)
	f.Add("web: {engine: brave}\n\n\n# x\n")
	f.Fuzz(func(t *testing.T, file string) {
		before, err := parse("/c", []byte(file))
		if err != nil {
			t.Skip()
		}
		value := assert.Must(valueOf("max_turns", []string{"17"}))(t)
		text, err := editSetting([]byte(file), "max_turns", value)
		if err != nil {
			t.Skip(err) // the person is told to use an editor
		}
		after, err := parse("/c", text)
		assert.Require(t, err == nil, "%v: %q became %q", err, file, text)
		before.values["max_turns"] = value
		unplaced := cmp.Transformer("meaning", func(n *yaml.Node) (v any) { _ = n.Decode(&v); return v })
		diff := cmp.Diff(before.values, after.values, unplaced)
		assert.That(t, diff == "", "%s: %q became %q", diff, file, text)
	})
}

func TestSeveralSettingsAreWrittenAtOnceOrNone(t *testing.T) {
	s := newSetup(t, "# mine\nmax_turns: 3\n")
	set := func(all ...Text) error {
		_, err := SetTexts(Options{Environ: s.environ, Home: s.home}, all)
		return err
	}
	for want, all := range map[string][]Text{
		"unknown setting vlt":        {{"model", "ollama:a"}, {"vlt", "/notes"}},
		"a provider without a model": {{"model", "ollama:a"}, {"inquiry.embeddings", "ollama"}},
		"looks like a key": {{"model", "ollama:a"},
			{"vault", "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"}},
		"no setting is named": nil,
	} {
		if err := set(all...); err == nil || !strings.Contains(err.Error(), want) ||
			s.content(t) != "# mine\nmax_turns: 3\n" {
			t.Errorf("%v: %v\n%s", all, err, s.content(t))
		}
	}
	assert.NoError(t, set(Text{"model", "ollama:a"}, Text{"vault", "12"}))
	assert.Same(t, "# mine\nmax_turns: 3\nmodel: ollama:a\nvault: \"12\"\n", s.content(t))
}
