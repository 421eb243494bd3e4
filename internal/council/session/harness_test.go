package session

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
)

// noon is when the tests take place.
var noon = time.Date(2025, 12, 20, 10, 30, 0, 0, time.UTC)

// errNoAudio is what the probe of the tests says of what does not begin with "sound".
var errNoAudio = errors.New("no stream of audio in it")

func probe(_ context.Context, file string) (Facts, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return Facts{}, err
	}
	if !strings.HasPrefix(string(content), "sound") {
		return Facts{}, errNoAudio
	}
	seconds := 1.5
	return Facts{Seconds: &seconds, Ending: "ogg"}, nil
}

func open(t testing.TB, folder string) *Store {
	t.Helper()
	s := assert.Must(Open(Config{Folder: folder, Now: func() time.Time { return noon }, Probe: probe}))(t)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// begun is a store with a session in it.
func begun(t testing.TB) (*Store, string) {
	t.Helper()
	s := open(t, filepath.Join(t.TempDir(), "sessions"))
	m := assert.Must(s.New(t.Context(), "", ""))(t)
	return s, m.ID
}

func (s *Store) path(parts ...string) string {
	return filepath.Join(append([]string{s.folder}, parts...)...)
}

// put writes a file as a person would.
func put(t testing.TB, name, text string) {
	t.Helper()
	assert.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)))
}

func content(t testing.TB, name string) string {
	t.Helper()
	return string(assert.Must(os.ReadFile(name))(t))
}

// tree is the files below a folder with their contents.
func tree(t testing.TB, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	assert.NoError(t, filepath.Walk(folder, func(name string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			rel := assert.Must(filepath.Rel(folder, name))(t)
			all[filepath.ToSlash(rel)] = content(t, name)
		}
		return err
	}))
	return all
}

func names(files map[string]string) []string {
	var all []string
	for name := range files {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

func same[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	a, b := assert.Must(json.Marshal(got))(t), assert.Must(json.Marshal(want))(t)
	assert.That(t, string(a) == string(b), "%s:\n got %s\nwant %s", what, a, b)
}

func add(t testing.TB, s *Store, id, text string) Added {
	t.Helper()
	return assert.Must(s.AddAudio(t.Context(), id, "memo.ogg", strings.NewReader(text)))(t)
}

func answer(operation, text string) Response {
	return Response{LlmEntry: LlmEntry{OracleName: "Cético", OracleID: "a1b2c3d4", Operation: operation},
		Slug: "cetico", Text: text}
}

// wantWhole wants a session without problems, whose files are those that it tells of.
func wantWhole(t testing.TB, s *Store, id string) Session {
	t.Helper()
	problems := assert.Must(s.Check(t.Context(), id, nil))(t)
	assert.That(t, len(problems) == 0, "problems: %q", problems)
	m := assert.Must(s.Get(t.Context(), id))(t)
	want := []string{metadataFile}
	for _, e := range m.Audio {
		if e.File != "" {
			want = append(want, audioFolder+"/"+e.File)
		}
		if e.Transcript != "" {
			want = append(want, transcriptFolder+"/"+e.Transcript)
		}
	}
	for _, e := range m.Answers {
		want = append(want, responseFolder+"/"+e.File)
	}
	slices.Sort(want)
	same(t, "files", names(tree(t, s.path(id))), want)
	return m
}
