package config

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

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

func TestLoopbackIsToldByTheAddressThatIsListenedTo(t *testing.T) {
	for listen, want := range map[string]bool{"127.0.0.1:1": true, "[::1]:1": true, "localhost:1": true, ":1": false,
		"0.0.0.0:1": false, "192.168.0.1:1": false, "example.org:1": false} {
		assert.Equalf(t, (Server{Listen: listen}).Loopback(), want, "%s is loopback", listen)
	}
}
