package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sibyl/internal/eval/find"
)

// evalFindCommand runs ‘sibyl eval find --set’ over a file of one line.
func evalFindCommand(t *testing.T, line string) (code int, out, complaints string) {
	t.Helper()
	dir := t.TempDir()
	config, set := filepath.Join(dir, "none.yaml"), filepath.Join(dir, "set.jsonl")
	for file, text := range map[string]string{config: "", set: line + "\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var stdout, stderr bytes.Buffer
	args := []string{"--config", config, "eval", "find", "--json", "--set", set}
	code = Main(t.Context(), Program{Build: "test"}, args, []string{"SIBYL_DATA=" + filepath.Join(dir, "data")}, Streams{In: strings.NewReader(""), Out: &stdout, Err: &stderr})
	return code, stdout.String(), stderr.String()
}

func TestASetOfOnesOwnIsAskedWhole(t *testing.T) {
	for _, id := range []string{"a", "b", "c", "d"} { // of which some would be frozen
		code, out, complaints := evalFindCommand(t, `{"id":"`+id+`","corpus":"vault-find","kind":"what","question":"which kitchen offer did I decide for","places":[{"path":"plans/kitchen.md","start":21,"end":22,"name":"Decision"}]}`)
		var r find.Report
		if err := json.Unmarshal([]byte(out), &r); err != nil || code != ExitAnswered || !r.Whole || len(r.All.Tallies) == 0 || r.All.Tallies[0].First.Of != 1 {
			t.Errorf("%s: exit %d, %v, %s\n%s", id, code, err, complaints, out)
		}
	}
}

func TestABadSetOfQuestionsIsBadInput(t *testing.T) {
	code, _, complaints := evalFindCommand(t, `{"id":"a","corpus":"vault-find","kind":"what","question":"which"}`)
	if code != ExitUsage || !strings.Contains(complaints, `line 1: a: "places" is empty`) {
		t.Errorf("exit %d: %s", code, complaints)
	}
}
