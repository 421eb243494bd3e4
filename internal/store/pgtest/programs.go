package pgtest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// find returns the folder of the machine's programs.
func find(ctx context.Context) (bin string, err error) {
	for _, bin := range installed(ctx) {
		if complete(bin) {
			return bin, nil
		}
	}
	return "", errors.New("there is no PostgreSQL here: install it (apt-get install postgresql), so that initdb and postgres " +
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

// installed lists the folders where programs may be, the best first.
func installed(ctx context.Context) (folders []string) {
	if initdb, err := exec.LookPath("initdb"); err == nil {
		if initdb, err = filepath.EvalSymlinks(initdb); err == nil { // it looks for postgres beside itself
			folders = append(folders, filepath.Dir(initdb))
		}
	}
	if out, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		folders = append(folders, strings.TrimSpace(string(out)))
	}
	return append(folders, newest("/usr/lib/postgresql")...)
}

// newest lists the folders of programs below one that has a folder for each major version, the latest first.
func newest(root string) (folders []string) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil
	}
	for version := 99; version > 0; version-- {
		for _, e := range entries {
			if e.Name() == strconv.Itoa(version) {
				folders = append(folders, filepath.Join(root, e.Name(), "bin"))
			}
		}
	}
	return folders
}
