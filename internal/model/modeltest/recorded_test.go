package modeltest

import (
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
)

func TestRecordingsOfRealModelsComeThroughEveryAdapter(t *testing.T) {
	recordings := assert.Must(Recordings())(t)
	for adapter, build := range adapters() {
		t.Run(adapter, func(t *testing.T) {
			for name, r := range recordings {
				a := r.Answer()
				if adapter == "chat" {
					a = r.Raw()
				}
				m, _ := startSetup(t, build, Setup{}, a)
				out := chat(t.Context(), t, m, nil)
				if name == "gemma-base-runaway" { // all of it is in a template's marks, and none of it an answer
					assert.That(t, out.err != nil && out.text == "", "%s: %v, and %q", name, out.err, out.text)
					continue
				}
				assert.Require(t, out.err == nil, "%s: %v", name, out.err)
				if strings.HasSuffix(name, "runaway") { // it is stopped, and what came before stands
					assert.That(t, out.resp.Finish == model.FinishRepeated && len(out.text) < len(r.Text())/2 &&
						strings.HasPrefix(r.Text(), out.text) && out.resp.Text == out.text, "%s: %s, after %d of %d bytes", name,
						out.resp.Finish, len(out.text), len(r.Text()))
					continue
				}
				if adapter == "ollama" { // which does not say what was cached
					r.Usage.CachedTokens = 0
				}
				assert.Equalf(t, out.text, r.Text(), "%s: what was emitted", name)
				assert.Equalf(t, out.resp.Text, r.Text(), "%s: the text", name)
				assert.Equalf(t, out.resp.Finish, r.Finish, "%s: how it ends", name)
				assert.Equalf(t, out.resp.Usage, r.Usage, "%s: the usage", name)
				assert.That(t, out.resp.ToolCalls == nil, "%s: calls %v", name, out.resp.ToolCalls)
			}
		})
	}
}

func TestARecordingIsPlayedAsItCame(t *testing.T) {
	first := `data: {"choices":[{"finish_reason":null,"index":0,` + firstDelta + `}],"model":"m"}`
	last := `data: {"choices":[{"finish_reason":"stop","index":0,"delta":{}}],"model":"m"}`
	r := assert.Must(parseRecording(first + "\n[\"a \\\"b\\\"\",\"\\n\"]\n" + last + "\n" + lastEvent + "\n"))(t)
	want := strings.Join([]string{first,
		`data: {"choices":[{"finish_reason":null,"index":0,"delta":{"content":"a \"b\""}}],"model":"m"}`,
		`data: {"choices":[{"finish_reason":null,"index":0,"delta":{"content":"\n"}}],"model":"m"}`,
		last, lastEvent, ""}, "\n\n")
	assert.Equal(t, r.Body, want)
	again := assert.Must(parseRecording(want))(t)
	assert.Same(t, again, r)

	for _, text := range []string{"[\"no event before it\"]\n", first + "\nneither\n", first + "\n[\"cut\"]\n"} {
		_, err := parseRecording(text)
		assert.That(t, err != nil, "%q is taken for a recording", text)
	}
}

func TestACutRecordingGoesOnUntilTheWindowIsFull(t *testing.T) {
	r := assert.Must(Recordings())(t)["smollm2-runaway"]
	assert.That(t, r.Finish == model.FinishLength && len(r.Chunks) >= recordedWindow,
		"it ends with %s after %d pieces", r.Finish, len(r.Chunks))
	server := NewServer(t, r.Raw())
	resp, err := http.Post(server.BaseURL+"/v1/chat/completions", "application/json", strings.NewReader("{}"))
	assert.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	assert.Equal(t, resp.StatusCode, http.StatusOK)
}

func TestRecordingsNameNoMachine(t *testing.T) {
	files := assert.Must(filepath.Glob("testdata/recordings/*.txt"))(t)
	recordings := assert.Must(Recordings())(t)
	assert.Equal(t, len(recordings), len(files))
	machine := regexp.MustCompile(`/(root|home|Users|tmp|work)/|\d+\.\d+\.\d+\.\d+:\d+`)
	for name, r := range recordings {
		assert.Equalf(t, machine.FindString(r.Body), "", "%s", name)
	}
}
