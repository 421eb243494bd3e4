package eval_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	evaldata "sibyl/eval"
	"sibyl/internal/cli"
	"sibyl/internal/eval"
)

var update = flag.Bool("update", false, "rewrite eval/oracle/golden.json; eval/README.md must say why")

// The figures are those of the command, with settings and data of its own. Go's cache is found by the real environment.
func TestOfflineFiguresAreTheGoldenOnes(t *testing.T) {
	config := filepath.Join(t.TempDir(), "none.yaml")
	if err := os.WriteFile(config, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	environ := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "SIBYL_") })
	var out, complaints bytes.Buffer
	code := cli.Main(t.Context(), cli.Program{Build: "test"},
		[]string{"--config", config, "--data", filepath.Join(t.TempDir(), "data"), "eval", "oracle", "--transcripts", "--baseline", "--json"}, environ,
		cli.Streams{In: strings.NewReader(""), Out: &out, Err: &complaints})
	if code != cli.ExitAnswered {
		t.Fatalf("exit %d: %s", code, complaints.String())
	}
	var report eval.OracleReport
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatal(err)
	}
	got := report.Golden()
	if *update {
		var text bytes.Buffer
		if err := got.Write(&text); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join("..", "..", "eval", filepath.FromSlash(evaldata.OracleGolden)), text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	f, err := evaldata.Files.Open(evaldata.OracleGolden)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	want, err := eval.ReadOracleGolden(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range got.Changes(want) {
		t.Error(change)
	}
	for _, c := range report.Criteria {
		if c.Met == nil || !*c.Met {
			t.Errorf("%s is not met: %s: %s", c.ID, c.Asks, c.Figure)
		}
	}
	if t.Failed() {
		t.Log("if this is meant: go test ./internal/eval -run OfflineFigures -update, and say why in eval/README.md")
	}
}
