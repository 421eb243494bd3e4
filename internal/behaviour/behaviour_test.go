package behaviour_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sibyl/internal/behaviour/assert"
)

// behaviour is what a model does, and what the person gets.
type behaviour struct {
	name  string
	ask   string // the question
	plays part

	plain int  // requests of a plain loop
	ours  span // requests of ours

	stop string // why the run ends; it settles the exit

	holds  []string // what the answer holds
	lacks  []string // what it must not hold
	never  []string // what is never shown, not even while it streams
	warns  []string // patterns, each of which a warning to the person has
	basis  string   // what its footer says that it rests on, where that is not what was read
	told   string   // a pattern of what the model is told; "": that is not looked at
	ran    []string // the tools that are run, in order; one that fails has a mark behind it
	looked bool     // the tree looks up what the model does not, after its first reply
	last   bool     // after all of these
	signal string   // the type of the signal that counts; "": that is not looked at
	notice string   // a type of notice; "": that is not looked at

	consults int  // of the fallback, at most; 0: that is not looked at
	wires    bool // it is played over Anthropic's and Ollama's wires, too
}

// span is a number of requests, where what the model does leaves more than one right.
type span struct{ least, most int }

func exactly(n int) span           { return span{n, n} }
func between(least, most int) span { return span{least, most} }

// The questions: of code, of the world, of notes, of nothing, for a note, and for a change of no place.
const (
	auth    = "How does the auth middleware check a token?"
	mutex   = "What is a mutex?"
	caching = "What did we decide about caching?"
	thanks  = "Thanks, that helps!"
	save    = "Create a note about the caching decision"
	record  = "Write the caching decision down"
)

// unwritten is what a warning has to say of an answer without the note that was asked for.
const unwritten = `(?i)written|saved`

// What an answer rests on for which nothing was read.
const (
	known = "from the model's knowledge"
	found = "from search results"
	empty = "nothing found"
	other = "from none of these" // of the places that the tree has found
)

// markup is never shown, whoever wrote it and however.
func markup() []string {
	return []string{"<sig" + "nal", "&lt;sig" + "nal", "<conf" + "idence", "<thi" + "nk", "</thi" + "nk",
		"sources_found", "[control]"}
}

// exits are the ends of the program by the reason of a run's.
func exits() map[string]string {
	return map[string]string{"satisfied": "satisfied", "partial": "partial", "budget": "partial", "stuck": "partial",
		"loop":       "partial",
		"needs_user": "needs_user", "refused": "refused", "error": "error"}
}

// lookUps are the calls by which the tree looks up a question.
func lookUps() map[string][]string {
	return map[string][]string{auth: {"code_search", "code_read", "code_read"},
		caching: {"thread_seek", "vault_search", "vault_read"}}
}

func TestBehaviours(t *testing.T) {
	s := newStage(t)
	all := slices.Concat(answers(), reports(), spellings(), writtenCalls(), tools(), notes(), failures())
	rows := &table{lines: map[string]string{}}
	t.Cleanup(func() { t.Log("\n" + rows.String()) })
	for i, b := range all {
		providers := []string{"openai"}
		if b.wires {
			providers = append(providers, "anthropic", "ollama")
		}
		for _, provider := range providers {
			name := b.name
			if provider != "openai" {
				name += ", over the wire of " + provider
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				vault := func() string { return folder(t, "caching.md", cachingMD) }
				plain, ours := s.cast(provider, fmt.Sprintf("plain-%d-%s", i, provider), b.plays),
					s.cast(provider, fmt.Sprintf("ours-%d-%s", i, provider), b.plays)
				s.plainly(t, plain, b.ask, vault())
				e := s.ask(t, ours, "", b.ask, vault())
				rows.add(i, provider, name, len(s.scenes(plain)), len(s.scenes(ours)), e)
				b.check(t, s.scenes(plain), s.scenes(ours), e)
			})
		}
	}
}

func (b behaviour) check(t *testing.T, plain, ours []scene, e ending) {
	assert.That(t, len(plain) == b.plain, "a plain loop makes %d requests, not %d", len(plain), b.plain)
	if n := len(ours); n < b.ours.least || n > b.ours.most {
		t.Errorf("%d requests, not %d to %d; the model was told: %q", n, b.ours.least, b.ours.most, ours[n-1].told)
	}
	assert.That(t, e.StopReason == b.stop && e.exit() == exits()[b.stop],
		"it ends %s and exits %s; want %s, %s", e.StopReason, e.exit(), b.stop, exits()[b.stop])
	warnings := strings.Join(e.Warnings, "\n")
	assert.Contains(t, "the answer", e.Answer.Answer, b.holds...)
	assert.Lacks(t, "the answer", e.Answer.Answer, b.lacks...)
	assert.Lacks(t, "what is shown", e.Answer.Answer+e.streamed+warnings, slices.Concat(b.never, markup())...)
	for _, pattern := range b.warns {
		assert.That(t, regexp.MustCompile(pattern).MatchString(warnings), "no warning says %q: %q", pattern, warnings)
	}
	var bases []string
	for _, basis := range []string{known, found, empty, other} {
		if strings.Contains(strings.Join(e.Notes, "\n"), basis) {
			bases = append(bases, basis)
		}
	}
	assert.That(t, b.stop != "satisfied" || strings.Join(bases, ", ") == b.basis,
		"the footer %q says that it rests on %q, not on %q", e.Notes, bases, b.basis)
	if told := ours[len(ours)-1].told; !regexp.MustCompile(b.told).MatchString(strings.Join(told, "\n")) {
		t.Errorf("the model is not told %q: %q", b.told, told)
	}
	assert.That(t, b.looked == e.LookedUp, "the tree has looked something up: %t", e.LookedUp)
	ran := b.ran
	if b.looked {
		if ran = slices.Concat(lookUps()[b.ask], ran); b.last {
			ran = slices.Concat(b.ran, lookUps()[b.ask])
		}
	}
	assert.NoDiff(t, cmp.Diff(ran, e.ran(), cmpopts.EquateEmpty()), "the tools that were run (-want +got)")
	assert.That(t, b.signal == "" || (e.Signal != nil && string(e.Signal.Type) == b.signal),
		"the signal that counts is %v, not %s", e.Signal, b.signal)
	assert.That(t, b.notice == "" || slices.Contains(e.noticed(), b.notice),
		"there is no notice %s: %v", b.notice, e.noticed())
	assert.That(t, b.consults == 0 || len(e.Fallbacks) <= b.consults,
		"the fallback was consulted %d times: %v", len(e.Fallbacks), e.Fallbacks)
	checkUnsignalled(t, plain, ours)
}

// isForNotes says whether a model is told to take notes, to which its reply is no answer.
func isForNotes(told string) bool { return strings.Contains(told, "Write the notes that you need") }

// checkUnsignalled holds for every model that knows nothing of signals: it is asked for no more than one reply without
// a call beyond what a plain loop asks for, and reminded once.
func checkUnsignalled(t *testing.T, plain, ours []scene) {
	if slices.ContainsFunc(ours, func(s scene) bool { return strings.Contains(strings.ToLower(s.text), "signal") }) {
		return
	}
	quiet := func(all []scene) (n int) { // a reply without a word is no answer to anything
		for _, s := range all {
			if len(s.calls) == 0 && s.text != "" && !slices.ContainsFunc(s.told, isForNotes) {
				n++
			}
		}
		return n
	}
	if n := quiet(ours); n > quiet(plain)+1 {
		t.Errorf("%d replies without a call are asked for; a plain loop asks for %d", n, quiet(plain))
	}
	reminders := 0
	for _, text := range ours[len(ours)-1].told {
		if strings.Contains(strings.ToLower(text), "signal") {
			reminders++
		}
	}
	if reminders > 1 {
		t.Errorf("the model is reminded of signals %d times: %q", reminders, ours[len(ours)-1].told)
	}
}

func (e ending) noticed() (types []string) {
	for _, n := range e.Answer.Notices {
		types = append(types, n.Type)
	}
	return types
}

// table is what was measured.
type table struct {
	mu    sync.Mutex
	lines map[string]string
}

func (a *table) add(place int, provider, name string, plain, ours int, e ending) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lines[fmt.Sprintf("%03d %s", place, strings.Replace(provider, "openai", "", 1))] = fmt.Sprintf(
		"%s\t%d -> %d\t%s\t%s", name, plain, ours, e.StopReason, e.exit())
}

func (a *table) String() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	b := &strings.Builder{}
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "behaviour\trequests: a plain loop's -> ours\tends\texits")
	keys := slices.Sorted(maps.Keys(a.lines))
	for _, k := range keys {
		fmt.Fprintln(w, a.lines[k])
	}
	_ = w.Flush() // into memory
	return b.String()
}
