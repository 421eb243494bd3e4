package code

import (
	"go/build"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"sibyl/internal/behaviour/needs"
)

// goTree opens the source of the Go installation: ten thousand files that every developer of this program has.
func goTree(t testing.TB) *Root {
	t.Helper()
	dir := filepath.Join(build.Default.GOROOT, "src")
	if _, err := os.Stat(filepath.Join(dir, "runtime")); err != nil {
		t.Skip("the Go installation has no source tree: nothing to search in")
	}
	return open(t, dir)
}

// questions with what must be among the first five hits, written as path, space, symbol. No rule of the ranking knows
// any of them.
var questions = []struct{ question, want string }{
	{"How does net/http decide when to close an idle connection?",
		`^net/http/transport\.go .*(closeConnIfStillIdle|tryPutIdleConn|CloseIdle)`},
	{"How does the garbage collector decide when to start a cycle", `^runtime/(mgcpacer\.go gcController|mgc\.go GC)`},
	{"how does strings.Builder grow", `^strings/builder\.go Builder\.[gG]row`},
	{"where is the slice growth policy", `^runtime/slice\.go .*grow`},
	{"How does encoding/json decide which struct fields to encode", `^encoding/json/(v2_)?encode\.go `},
	{"How does context propagate cancellation to children", `^context/context\.go cancelCtx\.propagateCancel`},
	{"how are map buckets grown", `^internal/runtime/maps/`},
	{"what happens on a nil channel send", `^runtime/chan\.go (chan)?send`},
	{"How does the race detector work", `^runtime/race(\.go|/doc\.go) `},
	{"how does sort.Slice choose its algorithm", `^sort/(slice\.go Slice|zsort)`},
	{"How does http.Server shut down gracefully", `^net/http/server\.go Server\.Shutdown`},
	{"how does os.Root prevent escapes", `^os/root(_\w+)?\.go `},
	{"how does sync.Mutex handle starvation", `^(internal/)?sync/mutex\.go `},
	{"how does the scheduler steal work from other Ps", `^runtime/proc\.go `},
	{"how does the http client follow redirects", `^net/http/client\.go `},
	{"what is the default TLS cipher suite preference order", `^crypto/tls/(cipher_suites|defaults)\.go `},
	{"How does regexp decide between backtracking and onepass", `^regexp/`},
	{"how does the inliner compute the cost of a function", `^cmd/compile/internal/inline/inl\.go `},
	{"how does the go build cache trim old entries", `^cmd/go/internal/cache/cache\.go .*[tT]rim`},
	{"idleConnTimeout", `^net/http/transport\.go `},
}

func TestQuestionsAboutTheGoTreeFindTheirFiles(t *testing.T) {
	needs.All(t, "a hundred megabytes to search in")
	r := goTree(t)
	for _, q := range questions {
		d, _ := data[SearchData](t, r, "code_search", SearchArgs{Query: q.question, Limit: 5})
		want, found := regexp.MustCompile(q.want), false
		var got []string
		for _, h := range d.Hits {
			got = append(got, h.Path+" "+h.Symbol)
			found = found || want.MatchString(got[len(got)-1])
		}
		if !found {
			t.Errorf("%s: %q, want %s", q.question, got, q.want)
		}
	}
}

// BenchmarkSearchGoTree measures whole calls with a warm page cache. Wanted: a search within 300 ms on two cores.
func BenchmarkSearchGoTree(b *testing.B) {
	r := goTree(b)
	for _, c := range []struct{ name, tool, args string }{
		{"question", "code_search", `{"query":"How does net/http decide when to close an idle connection?"}`},
		{"short-words", "code_search", `{"query":"where is gc run on os exit"}`},
		{"rare-word", "code_search", `{"query":"propagateCancel"}`},
		{"regex-literal", "code_search", `{"query":"func \\(.*\\) ServeHTTP\\(","regex":true}`},
		{"definition", "code_symbol", `{"symbol":"http.Server"}`},
		{"definition-loose", "code_symbol", `{"symbol":"Transport.idleConnTimeout"}`},
		{"map", "repo_map", `{}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := call(b, r, c.tool, c.args); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/call")
		})
	}
}
