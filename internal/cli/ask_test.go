package cli

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"sibyl/internal/config"
	"sibyl/internal/oracle"
	"sibyl/internal/schema"
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
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, not %q", args, err, want)
		}
	}
}

func TestFlagComesBeforeTheSettingEvenIfItSaysNothingIsWanted(t *testing.T) {
	cfg := config.Config{MaxTurns: 30, MaxTokens: 5000, MaxTime: time.Minute, Model: "a:b"}
	f, err := flagsOf(t, "--max-tokens=0", "--no-fallback", "-m=c:d")
	if err != nil {
		t.Fatal(err)
	}
	o, err := f.withSettings(cfg)
	want := oracle.Options{Model: "c:d", MaxTurns: 30, MaxTime: time.Minute, Fallback: new(false)}
	if diff := cmp.Diff(want, o); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestTheProjectOneStandsInIsLikelyAndNotNamed(t *testing.T) {
	project, letters, notes := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, filepath.Join(project, "go.mod"), "")
	for _, stand := range []string{project, letters} {
		t.Chdir(stand)
		f, err := flagsOf(t, "--vault", notes, "--web")
		if err != nil {
			t.Fatal(err)
		}
		o, err := questionOptions(f, config.Config{MaxTurns: 30})
		if err != nil || o.Code.Name != "" || (o.Code.Path != "") != (stand == project) ||
			o.Vault != (schema.Folder{Name: notes, Path: notes}) {
			t.Errorf("in %s: %+v, %v", stand, o, err)
		}
		if o.Project != (stand == project) {
			t.Errorf("in %s: the folder is likely: %v", stand, o.Project)
		}
	}
	for args, want := range map[string]string{"--notes": "--vault", "--in=/nowhere": "--in", "--vault=" +
		filepath.Join(project, "go.mod"): "not a folder"} {
		f, err := flagsOf(t, args)
		if err == nil {
			_, err = questionOptions(f, config.Config{MaxTurns: 30})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
}
