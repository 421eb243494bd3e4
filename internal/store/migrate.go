package store

import (
	"embed"
	"fmt"
	"path"
	"strconv"
	"strings"
)

//go:embed migrations
var migrations embed.FS

// migration brings the tables of a database to a version.
type migration struct {
	version    int64
	statements string
}

// migrationsOf returns the embedded migrations for "sqlite" or "postgres", in order of their versions.
func migrationsOf(kind string) (all []migration, err error) {
	files, err := migrations.ReadDir(path.Join("migrations", kind))
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		number, _, _ := strings.Cut(f.Name(), "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("migration %s: %w", f.Name(), err)
		}
		statements, err := migrations.ReadFile(path.Join("migrations", kind, f.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, migration{version, string(statements)})
	}
	return all, nil
}

// unversioned is the version of a database without a table of versions, which migration 0 makes.
const unversioned = -1

// behind reports whether tables of this version lack migrations; ErrNewer or ErrOlder if this build can't use them.
func behind(all []migration, version int64, database string) (bool, error) {
	first, latest := all[1].version, all[len(all)-1].version
	switch {
	case version > latest:
		return false, fmt.Errorf("database %s: %w (its tables are of version %d, this build knows %d: update sibyl)",
			database, ErrNewer, version, latest)
	case version > 0 && version < first:
		return false, fmt.Errorf("database %s: %w (its tables are of version %d, this build begins with version %d: "+
			"move it away, or name another folder with --data)", database, ErrOlder, version, first)
	}
	return version < latest, nil
}

// runMigrations runs the migrations after a version, and stores their versions in table. The caller has read the
// version in the same transaction.
func (t *tx) runMigrations(all []migration, version int64, table string) error {
	for _, m := range all {
		if m.version <= version {
			continue
		}
		for statement := range strings.SplitSeq(strings.TrimSuffix(m.statements, ";\n"), ";\n") {
			t.run(statement)
		}
		if err := t.send(); err != nil {
			return fmt.Errorf("bring the tables up to version %d: %w", m.version, err)
		}
		t.run(`INSERT INTO `+table+` (version_id, is_applied) VALUES ($1, true)`, m.version)
	}
	return t.send()
}
