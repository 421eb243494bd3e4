package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model/modeltest"
)

// A witness that never answers is left at once, whoever stops the inquiry: its server sees the request go. That this
// takes 3 s at most is shown by a clock that no machine slows down, in internal/inquiry; nothing but the stop ends the
// request here, since a local model may be silent for minutes.
func TestAWitnessThatNeverAnswersIsLeftWhenTheInquiryIsStopped(t *testing.T) {
	for name, stop := range map[string]func(t *testing.T, s *story, asking *exec.Cmd){
		"by Ctrl-C": func(t *testing.T, _ *story, asking *exec.Cmd) {
			assert.NoError(t, asking.Process.Signal(os.Interrupt))
		},
		"from another process": func(t *testing.T, s *story, _ *exec.Cmd) { s.sibyl(t, "", "inquiry", "stop") },
	} {
		t.Run(name, func(t *testing.T) {
			witness := modeltest.NewServer(t, modeltest.Stream("Yes."), modeltest.Stream("Yes."),
				modeltest.Stream("It was closed on 4 March 2021."), modeltest.Answer{Break: modeltest.Hang})
			witness.Models = []string{"silent"}
			s := newStory(t)
			settings := filepath.Join(s.data, "settings.yaml")
			write(t, settings, "ollama: {host: '"+witness.BaseURL+
				"'}\ntimeouts: {local_start: 30m, local_silence: 30m}\n")
			t.Setenv("SIBYL_CONFIG", settings)
			asking := exec.CommandContext(t.Context(), "sibyl", "investigate",
				"The bridge was closed because of corrosion.", "--witness", "ollama:silent", "-m", "offline:rules")
			asking.Env = withoutOllama(s.environ())
			var said bytes.Buffer
			asking.Stderr = &said
			assert.NoError(t, asking.Start())
			soon(t, "a question that is not answered", witness.Hanging())
			stop(t, s, asking)
			soon(t, "the end of the request", witness.Ended())
			err := asking.Wait()
			assert.That(t, asking.ProcessState.ExitCode() == 130, "%v\n%s", err, said.String())
			var session struct {
				Status, EndReason string
				QAPairs           []struct{ Answer string }
				ProvisionalAudit  *struct{}
			}
			out, _ := s.sibyl(t, "", "inquiry", "show", "--json")
			err = json.Unmarshal(out, &session)
			assert.That(t, err == nil && session.Status == "failed" && session.EndReason == "stopped" &&
				session.ProvisionalAudit != nil && len(session.QAPairs) == 1 &&
				strings.Contains(session.QAPairs[0].Answer, "4 March 2021"), "%v: %+v", err, session)
		})
	}
}

// withoutOllama leaves the address of Ollama to the settings.
func withoutOllama(environ []string) (all []string) {
	for _, v := range environ {
		if !strings.HasPrefix(v, "OLLAMA_HOST=") {
			all = append(all, v)
		}
	}
	return all
}

func soon(t *testing.T, what string, from <-chan struct{}) {
	t.Helper()
	select {
	case <-from:
	case <-time.After(time.Minute):
		t.Fatal(what + " did not come in a minute")
	}
}
