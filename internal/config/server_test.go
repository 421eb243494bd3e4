package config

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"
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
		if got := strings.ReplaceAll(cfg.Database.Where(), filepath.Dir(s.file()), "FOLDER"); got != c.want {
			t.Errorf("%q with %s: the database is %q; want %q", c.file, c.environ, got, c.want)
		}
		if got := cfg.Redactor().String("it says hunter2hunter2"); strings.Contains(c.environ,
			"hunter2hunter2") == strings.Contains(got, "hunter2hunter2") {
			t.Errorf("%s: %q is what is kept of a text with its password", c.environ, got)
		}
	}
	if _, err := newSetup(t, "", "DATABASE_URL=postgres://hunter2hunter2@").load(); err == nil ||
		strings.Contains(err.Error(), "hunter2hunter2") {
		t.Errorf("an address without a database gives %v", err)
	}
}

func TestFolderOfAUserIsNobodyElses(t *testing.T) {
	s := Server{Folders: map[string]string{"code": "/srv/code", "ada/notes": "/home/ada", "ada/code": "/home/ada/code"}}
	for user, want := range map[string]map[string]string{
		"ada": {"notes": "/home/ada", "code": "/home/ada/code"},
		"bob": {"code": "/srv/code"},
		"":    {"code": "/srv/code"},
	} {
		if got := s.FoldersOf(user); !maps.Equal(got, want) {
			t.Errorf("%q may name %v; want %v", user, got, want)
		}
	}
}

func TestLoopbackIsToldByTheAddressThatIsListenedTo(t *testing.T) {
	for listen, want := range map[string]bool{"127.0.0.1:1": true, "[::1]:1": true, "localhost:1": true, ":1": false,
		"0.0.0.0:1": false, "192.168.0.1:1": false, "example.org:1": false} {
		if got := (Server{Listen: listen}).Loopback(); got != want {
			t.Errorf("%s is loopback: %v", listen, got)
		}
	}
}
