package index

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestDamageIsThrownAway(t *testing.T) {
	texts := make([]string, 300)
	for i := range texts {
		texts[i] = fmt.Sprintf("common word%d other%d", i, i%7)
	}
	for name, damage := range map[string]func(t *testing.T, path string){
		"cut in the middle": func(t *testing.T, path string) { must(t, os.Truncate(path, size(t, path)/2)) },
		"cut in the head":   func(t *testing.T, path string) { must(t, os.Truncate(path, 50)) },
		"empty":             func(t *testing.T, path string) { must(t, os.Truncate(path, 0)) },
		"garbage": func(t *testing.T, path string) {
			must(t, os.WriteFile(path, []byte(strings.Repeat("garbage", 9999)), 0o600))
		},
		"other version": func(t *testing.T, path string) { execute(t, path, `PRAGMA user_version = 999`) },
		"other folder": func(t *testing.T, path string) {
			execute(t, path, `UPDATE meta SET value = x'0102030405' WHERE key = 'root'`)
		},
		"no tables":      func(t *testing.T, path string) { execute(t, path, `DROP TABLE words`) },
		"words are gone": func(t *testing.T, path string) { execute(t, path, `DELETE FROM words`) },
		"a piece is moved": func(t *testing.T, path string) {
			execute(t, path, `UPDATE lists SET id = -id; UPDATE lists SET id = 4294967296 + 4294967298 + id`)
		},
		"a piece is gone": func(t *testing.T, path string) { execute(t, path, `DELETE FROM lists WHERE id % 2 = 0`) },
		"a piece is another": func(t *testing.T, path string) {
			execute(t, path, `UPDATE lists SET piece = CAST(substr(hex(piece), 1, length(piece)) AS BLOB)`)
		},
		"the catalogue is another": func(t *testing.T, path string) {
			execute(t, path, `UPDATE meta SET value = x'00' WHERE key = 'catalogue'`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c := NewCaches(dir, DefaultBound).Open("code", "/root")
			build(t, c, "one", texts...)
			must(t, c.Close())
			damage(t, c.path)
			for range 2 { // what it was found in, and what is made after it
				if _, got, err := content(t.Context(), cacheIn(t, dir)); !errors.Is(err, ErrNone) {
					t.Errorf("%d things found, error %v", len(got), err)
				}
			}
			if _, err := os.Stat(c.path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the file stays: %v", err)
			}
			build(t, c, "one", texts...)
			must(t, c.Close())
			damage(t, c.path)
			again := cacheIn(t, dir)
			_ = again.Build(t.Context(), func(*Build) error { return nil }) // which finds some damage only when it reads on
			_, _, _ = content(t.Context(), again)
			build(t, again, "two", "idle")
			if catalogue, got, err := content(t.Context(), again); err != nil || catalogue != "two" || len(got) != 2 {
				t.Errorf("built again: %q, error %v", got, err)
			}
		})
	}
}

func TestBytesThatChangeAreNoticedOrDoNotMatter(t *testing.T) {
	dir := t.TempDir()
	c := NewCaches(dir, DefaultBound).Open("code", "/root")
	build(t, c, "one", "idle conn", strings.Repeat("many words here ", 50))
	_, want, err := content(t.Context(), c)
	must(t, err)
	must(t, c.Close())
	whole, err := os.ReadFile(c.path)
	must(t, err)
	for at := 0; at < len(whole); at += 331 {
		changed := slices.Clone(whole)
		changed[at] ^= 0x55
		must(t, os.WriteFile(c.path, changed, 0o600))
		one := NewCaches(dir, DefaultBound).Open("code", "/root")
		if _, got, err := content(t.Context(), one); !errors.Is(err, ErrNone) && (err != nil || !slices.Equal(got, want)) {
			t.Errorf("byte %d: error %v, got %q", at, err, got)
		}
		must(t, one.Close())
	}
}

func size(t *testing.T, path string) int64 {
	info, err := os.Stat(path)
	must(t, err)
	return info.Size()
}

func execute(t *testing.T, path, statement string) {
	t.Helper()
	db, err := connect(t.Context(), path)
	must(t, err)
	_, err = db.Exec(statement)
	must(t, errors.Join(err, db.Close()))
}

func TestDamagedFilesAreNamedAndLeftAsTheyAre(t *testing.T) {
	dir := t.TempDir()
	store := NewCaches(dir, DefaultBound)
	var paths []string
	for _, root := range []string{"/sound", "/piece", "/none"} {
		c := store.Open("code", root)
		build(t, c, "one", "some words", "of two texts")
		must(t, c.Close())
		paths = append(paths, c.path)
	}
	if damaged, err := store.Damaged(t.Context()); err != nil || len(damaged) > 0 {
		t.Fatalf("%v, %v", damaged, err)
	}
	execute(t, paths[1], `UPDATE lists SET piece = CAST(substr(hex(piece), 1, length(piece)) AS BLOB)`)
	must(t, os.WriteFile(paths[2], []byte("no database"), 0o600))
	damaged, err := store.Damaged(t.Context())
	var got []string
	for _, k := range damaged {
		got = append(got, k.File)
	}
	slices.Sort(got)
	want := slices.Sorted(slices.Values(paths[1:]))
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	if all, err := store.List(t.Context()); err != nil || len(all) != 3 {
		t.Errorf("%v, %v", all, err)
	}
}
