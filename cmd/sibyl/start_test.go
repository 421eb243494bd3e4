package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// slowStarters are the packages that may allocate more than others before main begins, and why.
var slowStarters = map[string]string{
	"github.com/yuin/goldmark/extension":             "patterns of links and marks, beside the tables of an answer",
	"github.com/yuin/goldmark/parser":                "patterns of blocks of HTML",
	"github.com/yuin/goldmark/util":                  "names of the entities of HTML",
	"golang.org/x/net/html":                          "names of the entities of HTML",
	"codeberg.org/readeck/go-readability":            "patterns of web pages",
	"github.com/sugarme/tokenizer/pretokenizer":      "tests only: of the program sibyl-bert",
	"github.com/google/jsonschema-go/jsonschema":     "meta-schemas, for the schemas of tools",
	"github.com/danielgtaylor/huma/v2":               "patterns of formats, for the forms of requests",
	"github.com/danielgtaylor/huma/v2/yaml":          "how values are written, for the description of the API",
	"github.com/ledongthuc/pdf":                      "encodings of fonts, for documents in a child process",
	"github.com/google/go-cmp/cmp":                   "tests only",
	"github.com/google/go-cmp/cmp/internal/function": "tests only",
}

// readied is what a package does before main begins.
type readied struct {
	name         string
	took         float64 // milliseconds
	size, allocs int
}

// starts the program and gives what its packages do before main begins.
func starts(t *testing.T) (all []readied) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sibyl", "--version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var trace bytes.Buffer
	cmd.Stderr = &trace
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, trace.String())
	}
	for scanner := bufio.NewScanner(&trace); scanner.Scan(); {
		var r readied
		var at float64
		if _, err := fmt.Sscanf(scanner.Text(), "init %s @%f ms, %f ms clock, %d bytes, %d allocs", &r.name, &at, &r.took, &r.size, &r.allocs); err == nil {
			all = append(all, r)
		}
	}
	if len(all) < 50 {
		t.Fatalf("the runtime told of %d packages only:\n%s", len(all), trace.String())
	}
	return all
}

// TestStartReadiesNothingThatACommandMayNotNeed bounds what each package does before main begins, by its allocations, which do not depend on
// the machine as times do: patterns and tables are made on first use.
func TestStartReadiesNothingThatACommandMayNotNeed(t *testing.T) {
	const (
		ownBytes, ownAllocs         = 24 << 10, 100
		foreignBytes, foreignAllocs = 40 << 10, 400
		mostBytes                   = 2400 << 10
	)
	all := 0
	for _, r := range starts(t) {
		all += r.size
		bytes, most := foreignBytes, foreignAllocs
		if strings.HasPrefix(r.name, "sibyl/") {
			bytes, most = ownBytes, ownAllocs
		}
		if (r.size > bytes || r.allocs > most) && slowStarters[r.name] == "" {
			t.Errorf("%s allocates %d bytes in %d pieces before main begins, more than %d in %d: make patterns and tables on first use, or say in slowStarters why it must be",
				r.name, r.size, r.allocs, bytes, most)
		}
	}
	if all > mostBytes {
		t.Errorf("%d bytes are allocated before main begins, more than %d", all, mostBytes)
	}
}

// TestNoPackageTakesAsLongToBeReadyAsAllOthers finds a table that is made without an allocation. Each package is taken at its best, so that a busy machine
// makes no difference.
func TestNoPackageTakesAsLongToBeReadyAsAllOthers(t *testing.T) {
	const tries = 5
	best, sum := map[string]float64{}, 0.0
	for range tries {
		for _, r := range starts(t) {
			if was, known := best[r.name]; !known || r.took < was {
				best[r.name] = r.took
			}
		}
	}
	for _, took := range best {
		sum += took
	}
	for name, took := range best {
		if took > sum-took {
			t.Errorf("%s takes %.2f ms before main begins, and all others together %.2f ms", name, took, sum-took)
		}
	}
}

// BenchmarkStart times the whole program, as it is built for people, beside Go's smallest one in the same rounds.
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	hello := filepath.Join(dir, "hello.go")
	if err := os.WriteFile(hello, []byte("package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"hello\") }\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	for program, source := range map[string]string{"hello": hello, "sibyl": "."} {
		if out, err := exec.CommandContext(b.Context(), "go", "build", "-o", filepath.Join(dir, program), source).CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	}
	var took [3]time.Duration
	for b.Loop() {
		for i, args := range [][]string{{"hello"}, {"sibyl", "--version"}, {"sibyl", "ask", "-q", "--in", dir, "How does main print hello?"}} {
			cmd := exec.CommandContext(b.Context(), filepath.Join(dir, args[0]), args[1:]...)
			cmd.Env = []string{"SIBYL_DATA=" + dir, "HOME=" + dir, "OLLAMA_HOST=127.0.0.1:1"}
			from := time.Now()
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%v\n%s", err, out)
			}
			took[i] += time.Since(from)
		}
	}
	for i, what := range []string{"hello", "version", "ask"} {
		b.ReportMetric(float64(took[i])/float64(time.Millisecond)/float64(b.N), what+"-ms")
	}
}
