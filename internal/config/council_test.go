package config

import (
	"path/filepath"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
)

func TestATimeoutThatIsSetHoldsForEveryOracleAndElseOnlyHostedOnesAreHurried(t *testing.T) {
	local, hosted := Provider{Local: true}, Provider{}
	cfg, _ := mustLoad(t, "timeouts: {local_start: 4m, local_silence: 2m}")
	if start, silence := cfg.OracleTimeouts().Of(hosted); start != 30*time.Second || silence != 30*time.Second {
		t.Errorf("a hosted model has %s and %s, want 30 s", start, silence)
	}
	if start, silence := cfg.OracleTimeouts().Of(local); start != 4*time.Minute || silence != 2*time.Minute {
		t.Errorf("a local model has %s and %s, want what local models have", start, silence)
	}
	cfg, _ = mustLoad(t, "", "LLM_TIMEOUT_SECONDS=12")
	for _, p := range []Provider{local, hosted} {
		if start, silence := cfg.OracleTimeouts().Of(p); start != 12*time.Second || silence != 12*time.Second {
			t.Errorf("%+v has %s and %s, want the 12 s that are set", p, start, silence)
		}
	}
}

func TestEachOwnerHasSessionsOfTheirOwn(t *testing.T) {
	cfg, s := mustLoad(t, "")
	data := filepath.Join(s.home, ".local", "share", "sibyl")
	got, want := cfg.SessionsOf("local", true), filepath.Join(data, "sessions")
	assert.That(t, got == want, "the person has %s, want %s", got, want)
	got, want = cfg.SessionsOf("ada", false), filepath.Join(data, "users", "ada", "sessions")
	assert.That(t, got == want, "ada has %s, want %s", got, want)
	cfg, _ = mustLoad(t, "council: {sessions: /srv/thoughts}")
	got = cfg.SessionsOf("ada", false)
	assert.That(t, got == "/srv/thoughts/.users/ada", "ada has %s", got)
}
