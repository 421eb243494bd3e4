package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sibyl/internal/api"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/config"
	"sibyl/internal/keys"
)

// settingUp is how a page sets up a program that begins with these settings, and the folder of all that it has.
func settingUp(t *testing.T, settings string, environ ...string) (*setup, string) {
	t.Helper()
	home := t.TempDir()
	file := filepath.Join(home, "config.yaml")
	assert.NoError(t, os.WriteFile(file, []byte(settings), 0o600))
	assert.NoError(t, os.MkdirAll(filepath.Join(home, "data", "users"), 0o700))
	assert.NoError(t, os.MkdirAll(filepath.Join(home, "notes"), 0o700))
	s := &setup{data: filepath.Join(home, "elsewhere"), options: config.Options{Path: file, Home: home, Stored: keys.Names,
		Environ: append([]string{"HOME=" + home, "SIBYL_DATA=" + filepath.Join(home, "data"), "SIBYL_KEYS=file"},
			environ...)}, redact: func(text string) string { return text }}
	s.content = []byte(settings)
	return s, home
}

func TestPageChangesNothingThatCantBe(t *testing.T) {
	const work = "providers:\n  work: {base_url: https://llm.example.org/v1, key_env: WORK_KEY}\n" +
		"  late: {base_url: https://late.example.org/v1, key_env: LATE_KEY}\n"
	s, home := settingUp(t, work, "WORK_KEY=a-key-of-the-place-where-one-works", "OPENAI_API_KEY=a-key-of-openai-in-a-variable")
	for name, one := range map[string]struct{ setting, value, kind string }{
		"a program":               {"transcription.command", "[rm, \"{file}\"]", api.SettingOfTerminal},
		"where a key comes from":  {"providers.work.key_env", "OPENAI_API_KEY", api.SettingOfTerminal},
		"plain text for keys":     {"plain_http", "[evil.example.org]", api.SettingOfTerminal},
		"what there is not":       {"providers.work.nothing", "1", api.SettingRefused},
		"a key elsewhere":         {"providers.work.base_url", "https://evil.example.org/v1", api.SettingRefused},
		"a key that comes later":  {"providers.late.base_url", "https://evil.example.org/v1", api.SettingRefused},
		"a vendor's key":          {"providers.openai.base_url", "https://evil.example.org/v1", api.SettingRefused},
		"what all users said":     {"server.folders", "{all: " + filepath.Join(home, "data") + "}", api.SettingRefused},
		"what one user said":      {"server.folders", "{all: " + filepath.Join(home, "data", "users") + "}", api.SettingRefused},
		"a folder with all of it": {"vault", home, api.SettingRefused},
		"the folder in use":       {"vault", filepath.Join(home, "elsewhere", "users"), api.SettingRefused},
		"no number":               {"max_turns", "many", api.SettingRefused},
		"a key as a setting":      {"instructions", "sk-proj-" + strings.Repeat("a1B2", 12), api.SettingRefused},
		"a folder that is not":    {"vault", filepath.Join(home, "gone"), api.SettingUnfit},
		"a model of nobody":       {"model", "gemini:none", api.SettingUnfit},
	} {
		_, err := s.set(t.Context(), one.setting, []string{one.value}, false)
		told, is := errors.AsType[*api.SettingError](err)
		assert.That(t, is && told.Kind == one.kind, "%s is told %v", name, err)
		if one.kind == api.SettingUnfit {
			continue
		}
		_, err = s.set(t.Context(), one.setting, []string{one.value}, true)
		assert.That(t, err != nil, "%s is kept anyway", name)
	}
	now, err := os.ReadFile(s.options.Path)
	assert.That(t, err == nil && string(now) == work, "the settings are %s %v", now, err)
}

func TestWhatIsSetOnThePageStandsInTheFileAndIsPending(t *testing.T) {
	s, home := settingUp(t, "# mine\nmax_turns: 20\n")
	notes := filepath.Join(home, "notes")
	for _, one := range [][2]string{{"vault", notes}, {"max_turns", "12"}, {"instructions", "Be brief.\n\nAlways."},
		{"server.folders", `{"notes":"` + notes + `"}`}, {"providers.work.base_url", "https://llm.example.org/v1"}} {
		_, err := s.set(t.Context(), one[0], []string{one[1]}, false)
		assert.NoError(t, err)
	}
	_, err := s.set(t.Context(), "inquiry.witness", []string{"gemini:none"}, true)
	assert.NoError(t, err)
	assert.NoError(t, s.unset("providers.work"))
	all, err := s.show()
	assert.Require(t, err == nil && all.Pending, "it is shown as %+v %v", all, err)
	has := map[string]api.Setting{}
	for _, one := range all.Settings {
		has[one.Name] = one
	}
	assert.That(t, has["vault"].Text == notes && has["vault"].From == "file" && has["max_turns"].Text == "12" &&
		has["instructions"].Text == "Be brief.\n\nAlways." && has["server.folders"].Names["notes"] == notes &&
		has["inquiry.witness"].Text == "gemini:none" && has["providers.work.base_url"].Name == "" &&
		has["server.listen"].Part == "", "the settings are %+v", all.Settings)
}

func TestKeyIsStoredAndNeverShown(t *testing.T) {
	const key = "a-key-that-nobody-may-see-1234"
	s, _ := settingUp(t, "")
	assert.NoError(t, s.setKey(t.Context(), "openai", "  "+key+"\n", false))
	all, err := s.show()
	assert.That(t, err == nil && all.Pending && len(all.Keys) == 1 && all.Keys[0].Name == "openai" &&
		all.Keys[0].From == "file", "the keys are %+v %v", all.Keys, err)
	assert.Lacks(t, "what is shown", fmt.Sprintf("%+v", all), key)
	for name, wrong := range map[string][2]string{"two words": {"openai", "a key with spaces in it"},
		"a short one": {"openai", "abc"}, "a name that is not": {"nobody", key}} {
		err := s.setKey(t.Context(), wrong[0], wrong[1], true)
		assert.That(t, err != nil && !strings.Contains(err.Error(), wrong[1]), "%s is told %v", name, err)
	}
	other := s.setKey(t.Context(), "openai", "sk-ant-"+key, false)
	told, is := errors.AsType[*api.SettingError](other)
	assert.That(t, is && told.Kind == api.SettingUnfit, "the key of another is told %v", other)
	assert.NoError(t, s.deleteKey(t.Context(), "openai"))
	all, err = s.show()
	assert.That(t, err == nil && len(all.Keys) == 0, "the keys are %+v %v", all.Keys, err)
}
