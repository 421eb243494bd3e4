package pgtest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// find returns the first installed folder that has both initdb and postgres.
func find(ctx context.Context) (bin string, err error) {
	for _, bin := range installed(ctx) {
		if complete(bin) {
			return bin, nil
		}
	}
	return "", errors.New("there is no PostgreSQL here: install it (apt-get install " +
		"postgresql), so that initdb and postgres " +
		"are in the PATH or below /usr/lib/postgresql")
}

func complete(bin string) bool {
	for _, name := range []string{"initdb", "postgres"} {
		if info, err := os.Stat(filepath.Join(bin, name)); err != nil || info.IsDir() {
			return false
		}
	}
	return true
}

// installed lists the folders where PostgreSQL's programs may be, the preferred first.
func installed(ctx context.Context) (folders []string) {
	if initdb, err := exec.LookPath("initdb"); err == nil {
		if initdb, err = filepath.EvalSymlinks(initdb); err == nil { // postgres is in the same folder
			folders = append(folders, filepath.Dir(initdb))
		}
	}
	if out, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		folders = append(folders, strings.TrimSpace(string(out)))
	}
	below, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // the pattern is valid
	slices.Reverse(below)                                  // the latest version first
	return append(folders, below...)
}
