package cli

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

// sibyl runs a command line in a fresh home folder and returns its exit code and what it wrote.
func sibyl(t *testing.T, home string, s Streams, environ []string, args ...string) (code int, out, err string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if s.In == nil {
		s.In = strings.NewReader("")
	}
	s.Out, s.Err = &stdout, &stderr
	environ = append([]string{"HOME=" + home, "SIBYL_DATA=" + filepath.Join(home, "sessions"), "SIBYL_KEYS=file",
		"OLLAMA_HOST=127.0.0.1:1"}, environ...)
	code = Main(t.Context(), Program{Build: "test"}, args, environ, s)
	return code, stdout.String(), stderr.String()
}

func TestConfigTestAsksTheSearchServerForOneResult(t *testing.T) {
	asked := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Query().Get("q")
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"results":[{"title":"a","url":"https://a.test"},{"title":"b","url":"https://b.test"}]}`)
	}))
	defer server.Close()
	code, out, stderr := sibyl(t, t.TempDir(), Streams{}, []string{"SIBYL_SEARXNG_URL=" + server.URL}, "config",
		"test", "web")
	assert.That(t, code == ExitAnswered && strings.HasPrefix(out, "ok  web") &&
		strings.Contains(out, "searxng gave 1 result\n"), "exit %d: %s%s", code, out, stderr)
	assert.That(t, <-asked != "", "nothing was searched for")
}

func TestConfigTestFailsForTheModelThatIsSet(t *testing.T) {
	for environ, want := range map[string]int{"SIBYL_MODEL=": ExitAnswered,
		"SIBYL_MODEL=ollama:llama3.1:8b": ExitFailed} {
		code, out, stderr := sibyl(t, t.TempDir(), Streams{}, []string{environ}, "config", "test")
		assert.That(t, code == want, "%s: exit %d, want %d: %s%s", environ, code, want, out, stderr)
	}
}
