package config

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

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
