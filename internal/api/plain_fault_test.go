package api

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestDescriptionThatCannotBeWrittenIsAFaultOfTheServer(t *testing.T) {
	var log bytes.Buffer
	s := &Server{config: Config{Log: slog.New(slog.NewTextHandler(&log, nil))}}
	r := httptest.NewRequestWithContext(context.WithValue(t.Context(), requestInfoKey{}, &requestInfo{id: "r-1"}),
		http.MethodGet, "/openapi.json", nil)
	w := httptest.NewRecorder()
	s.serveDescription("application/openapi+json", func() ([]byte, error) { return nil, errors.New("a cycle") })(w, r)
	assert.That(t, w.Code == http.StatusInternalServerError && w.Header().Get("Content-Type") == problemType &&
		!strings.Contains(w.Body.String(), "cycle"), "the answer is %d %s", w.Code, w.Body)
	line := log.String()
	assert.That(t, strings.Contains(line, "level=ERROR") && strings.Contains(line, "a cycle") &&
		strings.Contains(line, "r-1"), "the log says %q", line)
}
