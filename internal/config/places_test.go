package config

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
)

func TestFileThatIsNamedMustExist(t *testing.T) {
	s := newSetup(t, "model: offline")
	missing := filepath.Join(s.home, "missing.yaml")
	_, err := Load(Options{Environ: s.environ, Home: s.home, Path: missing})
	assert.That(t, err != nil && strings.Contains(err.Error(), missing) &&
		strings.Contains(err.Error(), "named by the option"), "named by option: %v", err)
	_, err = Load(Options{Environ: append(s.environ, "SIBYL_CONFIG="+missing), Home: s.home})
	assert.That(t, err != nil && strings.Contains(err.Error(), "named by SIBYL_CONFIG"), "named by variable: %v", err)
	_, err = Load(Options{Environ: s.environ, Home: s.home, Path: s.home})
	assert.That(t, err != nil && strings.Contains(err.Error(), "not a configuration file"), "a folder: %v", err)
}

func TestOptionComesBeforeVariableBeforeUsualPlace(t *testing.T) {
	s := newSetup(t, "model: usual")
	other := func(name string) string {
		path := filepath.Join(s.home, name+".yaml")
		assert.NoError(t, os.WriteFile(path, []byte("model: "+name), 0o600))
		return path
	}
	byVariable := append([]string{"SIBYL_CONFIG=" + other("variable")}, s.environ...)
	for want, opts := range map[string]Options{
		"usual":    {Environ: s.environ},
		"variable": {Environ: byVariable},
		"option":   {Environ: byVariable, Path: other("option")},
	} {
		opts.Home = s.home
		cfg, err := Load(opts)
		path, pathErr := Path(opts)
		assert.That(t, err == nil && pathErr == nil && cfg.Model == want && cfg.File == path,
			"model = %q from %s, want %q from %s, errors %v, %v", cfg.Model, cfg.File, want, path, err, pathErr)
	}
	path, err := Path(Options{Environ: []string{}})
	assert.That(t, err != nil && strings.Contains(err.Error(), "HOME is not set"),
		"without a home folder: %q, %v", path, err)
}

func TestFileThatIsTooLargeIsRefused(t *testing.T) {
	_, err := newSetup(t, "# "+strings.Repeat("x", maxFileBytes)).load()
	assert.That(t, err != nil && strings.Contains(err.Error(), "at most 1024 KB"), "error = %v", err)
}

func TestDataFolderFollowsTheXDGSpecification(t *testing.T) {
	for _, c := range []struct{ xdg, want string }{
		{"/xdg", "/xdg/sibyl"},
		{"relative/is/ignored", "/home/me/.local/share/sibyl"},
		{"", "/home/me/.local/share/sibyl"},
	} {
		cfg, err := Load(Options{Environ: []string{"XDG_DATA_HOME=" + c.xdg, "HOME=/home/me"}})
		assert.That(t, err == nil && cfg.DataDir == c.want, "XDG_DATA_HOME %q: %q, error %v", c.xdg, cfg.DataDir, err)
	}
}

func TestRelativeConfigHomeIsIgnored(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the usual place differs")
	}
	home := t.TempDir()
	usual := filepath.Join(home, ".config", "sibyl", "config.yaml")
	assert.NoError(t, os.MkdirAll(filepath.Dir(usual), 0o755))
	assert.NoError(t, os.WriteFile(usual, []byte("model: usual"), 0o600))
	cfg, err := Load(Options{Environ: []string{"XDG_CONFIG_HOME=conf"}, Home: home})
	assert.That(t, err == nil && cfg.File == usual && cfg.Model == "usual",
		"file = %q, model = %q, error %v", cfg.File, cfg.Model, err)
}

func TestUnknownHomeMattersOnlyWhereItIsNeeded(t *testing.T) {
	_, err := Load(Options{Environ: []string{}})
	assert.That(t, err != nil && strings.Contains(err.Error(), "set SIBYL_DATA or HOME"),
		"without a folder for data: %v", err)
	_, err = Load(Options{Environ: []string{"SIBYL_DATA=/d"}})
	assert.That(t, err == nil, "with one: %v", err)
	_, err = Load(Options{Environ: []string{"SIBYL_DATA=/d", "SIBYL_VAULT=~/v"}})
	assert.That(t, err != nil && strings.Contains(err.Error(), "SIBYL_VAULT begins with ~"), "with a ~: %v", err)
}

func TestRelativeFolderOfTheEnvironmentStartsFromWhereOneIs(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	cfg, _ := mustLoad(t, "", "SIBYL_VAULT=notes")
	real, _ := filepath.EvalSymlinks(here)
	assert.That(t, cfg.Vault == filepath.Join(here, "notes") || cfg.Vault == filepath.Join(real, "notes"),
		"vault = %s", cfg.Vault)
}

func TestOllamaHostTakesTheFormsOfOllama(t *testing.T) {
	for host, want := range map[string]Ollama{
		"gpu":                    {Host: "http://gpu:11434"},
		"gpu.lan:1234":           {Host: "http://gpu.lan:1234"},
		"127.0.0.1":              {Host: "http://127.0.0.1:11434", Local: true},
		"localhost:11434":        {Host: "http://localhost:11434", Local: true},
		"0.0.0.0":                {Host: "http://127.0.0.1:11434", Local: true},
		"0.0.0.0:8000":           {Host: "http://127.0.0.1:8000", Local: true},
		":8000":                  {Host: "http://127.0.0.1:8000", Local: true},
		"::1":                    {Host: "http://[::1]:11434", Local: true},
		"[::1]":                  {Host: "http://[::1]:11434", Local: true},
		"[::]:8000":              {Host: "http://[::1]:8000", Local: true},
		"http://gpu":             {Host: "http://gpu:80"},
		"https://ollama.test/":   {Host: "https://ollama.test:443"},
		"https://ollama.test/x/": {Host: "https://ollama.test:443/x"},
		"http://127.1.2.3:5":     {Host: "http://127.1.2.3:5", Local: true},
		"10.0.0.1":               {Host: "http://10.0.0.1:11434"},
		"127.0.0.1.evil.test":    {Host: "http://127.0.0.1.evil.test:11434"},
	} {
		cfg, err := newSetup(t, "", "OLLAMA_HOST="+host).load()
		assert.That(t, err == nil && cmp.Equal(cfg.Ollama, want), "%s: %+v, want %+v, error %v", host, cfg.Ollama, want, err)
	}
}

func TestSearchServerKeepsItsPasswordApart(t *testing.T) {
	cfg, _ := mustLoad(t, "", "SIBYL_SEARXNG_URL=https://me:p%40ss-word-1@s.test/sx")
	want := Web{Engine: SearXNG, SearXNG: "https://s.test/sx", User: "me", Password: NewSecret("p@ss-word-1"),
		Brave: cfg.Web.Brave, Tavily: cfg.Web.Tavily}
	assert.Same(t, want, cfg.Web, bySecret)
	assert.Equalf(t, cfg.Web.Address(), "https://me:p%40ss-word-1@s.test/sx", "Address()")
	assert.Equalf(t, (Web{SearXNG: "https://s.test"}).Address(), "https://s.test", "without a password")
}

func TestVariableThatOtherProgramsUseNamesTheDatabaseUnlessASettingDoes(t *testing.T) {
	for _, c := range []struct{ file, environ, want string }{
		{"", "DATABASE_URL=postgres://ada:hunter2hunter2@h/d", "postgres://ada:xxxxx@h/d"},
		{"", "DATABASE_URL=postgresql://h/d?password=hunter2hunter2", "postgresql://h/d"},
		{"", "DATABASE_URL=mysql://root@h/d", ""},
		{"database: postgres://h/ours", "DATABASE_URL=postgres://h/theirs", "postgres://h/ours"},
		{"database: 'sqlite:ours.db'", "", "sqlite:FOLDER/ours.db"},
		{"", "DATABASE_URL=sqlite:///var/a.db", "sqlite:/var/a.db"},
	} {
		cfg, s := mustLoad(t, c.file, c.environ)
		assert.Equalf(t, strings.ReplaceAll(cfg.Database.Where(), filepath.Dir(s.file()), "FOLDER"), c.want,
			"%q with %s: the database", c.file, c.environ)
		got := cfg.Redactor().String("it says hunter2hunter2")
		assert.That(t, strings.Contains(c.environ, "hunter2hunter2") != strings.Contains(got, "hunter2hunter2"),
			"%s: %q is what is kept of a text with its password", c.environ, got)
	}
	_, err := newSetup(t, "", "DATABASE_URL=postgres://hunter2hunter2@").load()
	assert.That(t, err != nil && !strings.Contains(err.Error(), "hunter2hunter2"),
		"an address without a database gives %v", err)
}

func TestFolderOfAUserIsNobodyElses(t *testing.T) {
	s := Server{Folders: map[string]string{"code": "/srv/code", "ada/notes": "/home/ada", "ada/code": "/home/ada/code"}}
	for user, want := range map[string]map[string]string{
		"ada": {"notes": "/home/ada", "code": "/home/ada/code"},
		"bob": {"code": "/srv/code"},
		"":    {"code": "/srv/code"},
	} {
		got := s.FoldersOf(user)
		assert.That(t, maps.Equal(got, want), "%q may name %v; want %v", user, got, want)
	}
}

func TestATimeoutThatIsSetHoldsForEveryOracleAndElseOnlyHostedOnesAreHurried(t *testing.T) {
	local, hosted := Provider{Local: true}, Provider{}
	cfg, _ := mustLoad(t, "timeouts: {local_start: 4m, local_silence: 2m}")
	if start, silence := cfg.OracleTimeouts().Of(hosted); start != 30*time.Second || silence != 30*time.Second {
		t.Errorf("a hosted model has %s and %s, want 30 s", start, silence)
	}
	if start, silence := cfg.OracleTimeouts().Of(local); start != 4*time.Minute || silence != 2*time.Minute {
		t.Errorf("a local model has %s and %s, want what local models have", start, silence)
	}
	cfg, _ = mustLoad(t, "", "LLM_TIMEOUT_SECONDS=12")
	for _, p := range []Provider{local, hosted} {
		if start, silence := cfg.OracleTimeouts().Of(p); start != 12*time.Second || silence != 12*time.Second {
			t.Errorf("%+v has %s and %s, want the 12 s that are set", p, start, silence)
		}
	}
}

func TestEachOwnerHasSessionsOfTheirOwn(t *testing.T) {
	cfg, s := mustLoad(t, "")
	data := filepath.Join(s.home, ".local", "share", "sibyl")
	got, want := cfg.SessionsOf("local", true), filepath.Join(data, "sessions")
	assert.That(t, got == want, "the person has %s, want %s", got, want)
	got, want = cfg.SessionsOf("ada", false), filepath.Join(data, "users", "ada", "sessions")
	assert.That(t, got == want, "ada has %s, want %s", got, want)
	cfg, _ = mustLoad(t, "council: {sessions: /srv/thoughts}")
	got = cfg.SessionsOf("ada", false)
	assert.That(t, got == "/srv/thoughts/.users/ada", "ada has %s", got)
}

func TestVendorsComeFromTheEnvironmentAlone(t *testing.T) {
	const openAI, anthropic, gemini = "https://api.openai.com/v1", "https://api.anthropic.com",
		"https://generativelanguage.googleapis.com"
	key := func(variable, key string) KeySource { return KeySource{KeyEnv: variable, EnvKey: NewSecret(key)} }
	for _, c := range []struct {
		name, file string
		environ    []string
		want       map[string]Provider
	}{
		{"nothing", "", nil, map[string]Provider{}},
		{"key", "", []string{"OPENAI_API_KEY=key-0123456789"}, map[string]Provider{
			"openai": {Kind: KindOpenAI, BaseURL: openAI, KeySource: key("OPENAI_API_KEY", "key-0123456789")}}},
		{"model only", "", []string{"OPENAI_MODEL=m"}, map[string]Provider{
			"openai": {Kind: KindOpenAI, BaseURL: openAI, Model: "m", KeySource: key("OPENAI_API_KEY", "")}}},
		{"a server on this machine, without a key", "", []string{"OPENAI_BASE_URL=http://localhost:8000/v1"},
			map[string]Provider{
				"openai": {Kind: KindOpenAI, BaseURL: "http://localhost:8000/v1", Local: true}}},
		{"the file names another variable", "providers: {openai: {key_env: WORK_KEY}}",
			[]string{"OPENAI_API_KEY=key-0123456789", "WORK_KEY=work-0123456789"}, map[string]Provider{
				"openai": {Kind: KindOpenAI, BaseURL: openAI, KeySource: key("WORK_KEY", "work-0123456789")}}},
		{"Anthropic", "", []string{"ANTHROPIC_API_KEY=key-0123456789", "ANTHROPIC_MODEL=m",
			"ANTHROPIC_BASE_URL=https://proxy.test/"}, map[string]Provider{
			"anthropic": {Kind: KindAnthropic, BaseURL: "https://proxy.test", Model: "m",
				KeySource: key("ANTHROPIC_API_KEY", "key-0123456789")}}},
		{"Anthropic by its name in the file", "providers: {anthropic: {kind: anthropic}}", nil, map[string]Provider{
			"anthropic": {Kind: KindAnthropic, BaseURL: anthropic, KeySource: key("ANTHROPIC_API_KEY", "")}}},
		{"Gemini", "", []string{"GEMINI_API_KEY=key-0123456789", "GOOGLE_API_KEY=other-0123456789", "GEMINI_MODEL=m"},
			map[string]Provider{
				"gemini": {Kind: KindGemini, BaseURL: gemini, Model: "m", KeySource: key("GEMINI_API_KEY",
					"key-0123456789")}}},
		{"Gemini by Google's variable", "", []string{"GEMINI_API_KEY=", "GOOGLE_API_KEY=other-0123456789"},
			map[string]Provider{
				"gemini": {Kind: KindGemini, BaseURL: gemini, KeySource: key("GOOGLE_API_KEY", "other-0123456789")}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, _ := mustLoad(t, c.file, c.environ...)
			assert.Same(t, c.want, cfg.Providers, bySecret)
		})
	}
}

func TestVendorsKeyIsNotSentToAnotherAddress(t *testing.T) {
	cfg, _ := mustLoad(t, "providers: {mine: {kind: anthropic, base_url: 'https://mine.test'}, other: {base_url: "+
		"'https://other.test/v1'}}",
		"ANTHROPIC_API_KEY=key-0123456789", "OPENAI_API_KEY=key-9876543210")
	for _, name := range []string{"mine", "other"} {
		from, by := cfg.KeyOrigin(name)
		assert.That(t, from == "", "%s has a key from the %s, %s", name, from, by)
	}
}

func TestModelThatMayHaveToBeLoadedHasMoreTimeToBegin(t *testing.T) {
	times := Timeouts{Start: 1, Silence: 2, LocalStart: 3, LocalSilence: 4}
	for want, p := range map[time.Duration]Provider{1: {Kind: KindOpenAI}, 3: {Kind: KindOllama}} {
		start, silence := times.Of(p)
		assert.That(t, start == want && silence == want+1, "%+v: %d and %d; want %d and %d", p, start, silence, want, want+1)
	}
	start, _ := times.Of(Provider{Kind: KindOpenAI, Local: true})
	assert.That(t, start == 3, "a local model: %d", start)
}
