package persona

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func put(t *testing.T, file, text string) string {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestADeletedOracleIsAClearError(t *testing.T) {
	dir := t.TempDir()
	file := put(t, filepath.Join(dir, "a.md"), "# Ána\n\n{{CONTEXT}}")
	s := New(Config{Dir: dir, TTL: time.Hour})
	if _, err := s.List(context.Background()); err != nil {
		t.Fatal(err)
	}
	if p, err := s.Find(context.Background(), "ana"); err != nil || p.Name != "Ána" || p.Mode != InPlace {
		t.Fatalf("%+v, %v", p, err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Find(context.Background(), "ana"); !errors.Is(err, ErrDeleted) {
		t.Errorf("error = %v", err)
	}
}
