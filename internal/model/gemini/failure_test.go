package gemini_test

import (
	"fmt"
	"strings"
	"testing"

	"sibyl/internal/model/gemini"
	"sibyl/internal/model/modeltest"
)

// status is a google.rpc.Status with these details.
func status(code int, name, message string, details ...string) string {
	return fmt.Sprintf(`{"error": {"code": %d, "message": %q, "status": %q, "details": [%s]}}`, code, message, name, strings.Join(details, ","))
}

func TestQueryOfTheBaseURLIsKept(t *testing.T) {
	server := modeltest.NewServer(t, modeltest.Stream("ok"))
	m := connect(t, server, func(c *gemini.Config) { c.BaseURL += "?tenant=a" })
	if _, err := m.Chat(t.Context(), hello(), nil); err != nil {
		t.Fatal(err)
	}
	if got := server.Requests()[0].Query.Encode(); got != "alt=sse&tenant=a" {
		t.Errorf("asked with %s", got)
	}
}
