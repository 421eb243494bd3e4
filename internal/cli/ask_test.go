package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/config"
	"sibyl/internal/oracle"
)

// flagsOf are the flags of a question as a person gives them, read.
func flagsOf(t *testing.T, args ...string) (*optionFlagSet[oracle.Options], error) {
	t.Helper()
	cmd := &cobra.Command{}
	f := optionFlags[oracle.Options](cmd)
	return f, cmd.ParseFlags(args)
}

func TestBudgetsOutsideOfTheirBoundsAreToldWithThem(t *testing.T) {
	for args, want := range map[string]string{ // "": a budget that is fine
		"--max-turns=0": "a whole number from 1 to 200", "--max-turns=x": "a whole number from 1 to 200",
		"--max-turns=1":    "",
		"--max-tokens=999": "a whole number from 1000 to 10000000, or 0: no limit", "--max-tokens=0": "",
		"--max-time=4s": "a time from 5s to 1h, or 0: no limit", "--max-time=1h0m1s": "a time from 5s to 1h",
		"--max-time=1h": "", "--max-time=0": "",
		"--web=maybe": "true or false", "--no-web": "", "-m=a b": "in one word",
	} {
		_, err := flagsOf(t, args)
		assert.That(t, (err == nil) == (want == "") && (err == nil || strings.Contains(err.Error(), want)),
			"%s: %v, not %q", args, err, want)
	}
}

func TestFlagComesBeforeTheSettingEvenIfItSaysNothingIsWanted(t *testing.T) {
	cfg := config.Config{MaxTurns: 30, MaxTokens: 5000, MaxTime: time.Minute, Model: "a:b"}
	f := assert.Must(flagsOf(t, "--max-tokens=0", "--no-fallback", "-m=c:d"))(t)
	o, err := f.withSettings(cfg)
	want := oracle.Options{Model: "c:d", MaxTurns: 30, MaxTime: time.Minute, Fallback: new(false)}
	diff := cmp.Diff(want, o)
	assert.That(t, diff == "" && err == nil, "%v\n%s", err, diff)
}
