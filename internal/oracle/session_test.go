package oracle_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/media/document"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
)

// counting counts how often records are read.
type counting struct {
	journal.Store
	reads atomic.Int32
}

func (c *counting) Records(ctx context.Context, who journal.Owner, id string, from int64) ([]journal.Record, error) {
	c.reads.Add(1)
	return c.Store.Records(ctx, who, id, from)
}

func TestPastOfASessionIsReadFromTheRowsOfItsRuns(t *testing.T) {
	h := setUp(t, modeltest.SayAndCall(needTurn("look"), "code_read", lines("auth/middleware.go", 10, 30)),
		modeltest.Say("It checks a token. "+partial("the tests")),
		modeltest.Say("They use a fake. "+enough()))
	h.finish(h.start(auth))
	rows := &counting{Store: h.store}
	h.engine = h.newEngine(rows, "another process", nil)
	spec := assert.Must(h.begin(t.Context(), rows, h.question("And in the tests?")))(t)
	live := assert.Must(h.engine.Start(t.Context(), spec))(t)
	assert.Must(live.Wait(t.Context()))(t)
	same(t, "reads of records, for what the session was set up with", rows.reads.Load(), int32(1))
	same(t, "the request", withoutNotes(h.request(3)), []model.Message{
		{Role: model.User, Text: auth},
		{Role: model.Assistant, Text: "It checks a token.\n" + partial("the tests")},
		{Role: model.User, Text: "And in the tests?"},
	})
	same(t, "runs of the past", len(spec.Env.(oracle.Env).Past), 1)
	note, _ := agent.SplitNote(h.request(1).Messages[0].Text)
	same(t, "tokens of the past", spec.Given.(oracle.Given).PastTokens, agent.Tokens(auth)+agent.Tokens(note)+
		agent.Tokens("It checks a token."))
	same(t, "the earlier question", h.request(3).Messages[0], h.request(1).Messages[0])
}

func TestSessionsOfOthersStayOutOfTheRequest(t *testing.T) {
	h := setUp(t, modeltest.Say("SECRET of the first. "+partial("more")),
		modeltest.Say("It checks a token. "+partial("more")))
	h.finish(h.start(auth))
	h.openSession("another")
	h.ask("How does the auth middleware check the token?")
	wantNoParts(t, "the request in another session", whole(h.request(2)), "SECRET")

	q := h.question(auth)
	q.Session, q.Owner = "talk", "eve"
	spec, err := h.begin(t.Context(), h.store, q)
	assert.That(t, err != nil || len(spec.Env.(oracle.Env).Past) == 0,
		"another person's run begins with the exchanges of this one")
	_, err = h.engine.Start(t.Context(), spec)
	assert.That(t, errors.Is(err, journal.ErrNotFound), "another person's run in this session begins with %v", err)
}

// Where there would be too many, half of them are left out at once, so that the front of the others stays.
func TestLongSessionShowsItsLastSixToTwelveExchanges(t *testing.T) {
	t.Parallel()
	h := setUp(t)
	for i := range 15 {
		h.script.Add(modeltest.Say(fmt.Sprintf("Answer number-%d. %s", i, partial("more"))))
		h.finish(h.start(fmt.Sprintf("How does the auth middleware check token %d?", i)))
	}
	same(t, "messages with twelve exchanges", len(h.request(13).Messages), 2*12+1)
	for n, messages := range map[int]int{14: 2*6 + 1, 15: 2*7 + 1} {
		asked := h.request(n)
		same(t, "messages", len(asked.Messages), messages)
		wantNoParts(t, "the request", whole(asked), "number-6.")
		wantParts(t, "the request", whole(asked), "number-7.", fmt.Sprintf("number-%d.", n-2))
	}
}

func TestPastIsOldestFirstAndLeavesOutRunsThatGoOn(t *testing.T) {
	h := setUp(t, modeltest.Say("One. "+partial("more")), modeltest.Say("Two. "+partial("more")),
		modeltest.Turn{Text: "Three", Hang: true})
	h.engine = h.newEngine(h.store, "test", newSteppingClock())
	var ids []string
	for _, question := range []string{auth, "And in the tests?"} {
		h.finish(h.start(question))
		ids = append(ids, h.last.ID)
	}
	live := h.start("And in the server?")
	<-h.script.Hanging()
	spec := assert.Must(h.begin(t.Context(), h.store, h.question("And in the client?")))(t)
	same(t, "runs", spec.Env.(oracle.Env).Past, ids)
	same(t, "questions", spec.Given.(oracle.Given).Previous, []string{auth, "And in the tests?"})
	live.Cancel("end of the test")
	h.finish(live)
}

func TestQuestionIsCheckedBeforeAnythingIsKept(t *testing.T) {
	for name, c := range map[string]struct {
		words, want string // "": it is accepted
	}{
		"a plain one":       {auth, ""},
		"empty":             {"", "the question is empty"},
		"blanks":            {" \t\n\u00a0\u2003", "the question is empty"},
		"as long as may be": {strings.Repeat("a", oracle.MaxQuestion), ""},
		"too long": {strings.Repeat("a", oracle.MaxQuestion+1),
			"262145 bytes, more than the limit of 262144"},
		"too long in letters":     {strings.Repeat("ä", oracle.MaxQuestion/2+1), "put the material in a file"},
		"other writing":           {"认证中间件是如何工作的?", ""},
		"bytes that are no text":  {"caf\xe9?", ""},
		"nothing but such bytes ": {"\xff\xfe", ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := setUp(t)
			spec, err := h.begin(t.Context(), h.store, h.question(c.words))
			switch {
			case c.want == "" && err != nil:
				t.Errorf("it is refused: %v", err)
			case c.want == "" && !utf8.ValidString(spec.Given.(oracle.Given).Question):
				t.Errorf("what is accepted is no valid text: %+v", spec.Given)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("the error is %v; want one that says %q", err, c.want)
			}
		})
	}
}

func TestTitleIsOneShortLine(t *testing.T) {
	same(t, "title", oracle.Title("How does\n  the auth\tmiddleware work?"), "How does the auth middleware work?")
	long := oracle.Title(strings.Repeat("ä", 500))
	same(t, "characters of a long title", len([]rune(long)), 72)
	wantParts(t, "a long title", long, "…")
}

func TestResumedRunHasTheSurroundingsItBeganWith(t *testing.T) {
	h := setUp(t, modeltest.SayAndCall(needTurn("read"), "code_read", lines("a.go", 1, 9)),
		modeltest.Say("It is so (a.go:3). "+enough()))
	dying := mortal(h.store, 2, false)
	h.env.WindowTokens = 77
	var seen []oracle.Env
	h.opened = func(env oracle.Env) { seen = append(seen, env) }
	h.crashAndResume(auth, dying)
	same(t, "surroundings of both processes", len(seen), 2)
	same(t, "surroundings of the second", seen[1], seen[0])
	same(t, "window", seen[1].WindowTokens, 77)
}

func TestModelIsToldOnlyTheVersionOfAnExchangeThatIsInForce(t *testing.T) {
	h := setUp(t, modeltest.Say("Before. "+partial("more")), modeltest.Say("WRONG. "+partial("more")),
		modeltest.Say("STILL WRONG. "+partial("more")),
		modeltest.Say("Right. "+partial("more")), modeltest.Say("After. "+partial("more")))
	h.engine = h.newEngine(h.store, "test", newSteppingClock())
	h.finish(h.start("How does the auth middleware check token 1?"))
	h.finish(h.start("How does the auth middleware check token 2?"))
	for n, words := range []string{"How does the auth middleware check token 3?",
		"How does the auth middleware check token 4?"} {
		q := h.question(words)
		q.Replaces = h.last.ID
		h.finish(h.startQuestion(q))
		same(t, "messages of the one that replaces", len(h.request(3+n).Messages), 3)
	}
	h.ask("How does the auth middleware check token 5?")
	last := h.request(5)
	same(t, "messages", len(last.Messages), 2*2+1)
	wantNoParts(t, "the request after it", whole(last), "WRONG", "token 2", "token 3")
	wantParts(t, "the request after it", whole(last), "Before.", "Right.", "token 4")
}

func TestModelIsToldTheBranchThatAQuestionGoesOnFromAndNoOther(t *testing.T) {
	h := setUp(t)
	h.engine = h.newEngine(h.store, "test", newSteppingClock())
	ids := map[string]string{}
	ask := func(name string, set func(*question), has, lacks string) {
		t.Helper()
		h.script.Add(modeltest.Say("Answer-" + name + ". " + partial("more")))
		q := h.question("How does the auth middleware check token-" + name + "?")
		set(&q)
		h.finish(h.startQuestion(q))
		ids[name] = h.last.ID
		sent := whole(h.request(len(ids)))
		for _, of := range strings.Fields(has) {
			wantParts(t, "the request of "+name, sent, "token-"+of+"?", "Answer-"+of+".")
		}
		for _, of := range strings.Fields(lacks) {
			wantNoParts(t, "the request of "+name, sent, "token-"+of+"?", "Answer-"+of+".")
		}
	}
	usual := func(*question) {}
	with := func(name, text string) func(*question) {
		return func(q *question) { q.Material = document.JoinParts([]document.Part{{Name: name, Text: text}}) }
	}
	ask("one", usual, "", "")
	ask("two", with("two.txt", "of the second"), "one", "")
	ask("three", with("three.txt", "of the third"), "one two", "")
	ask("changed", func(q *question) { q.Replaces = ids["two"] }, "one", "two three")
	wantNoParts(t, "what is asked instead of the second", whole(h.request(4)), "of the second", "of the third")
	ask("later", usual, "one changed", "two three")
	ask("back", func(q *question) { q.Follows = ids["three"] }, "one two three", "changed later")
	wantParts(t, "what goes on from the third", whole(h.request(6)), "of the second", "of the third")
	ask("there", usual, "one two three back", "changed later")
	ask("first", func(q *question) { q.Replaces = ids["one"] }, "", "one two three changed later back there")
	of := oracle.Describe(&run.Assistant{}, h.surroundings(h.store))
	for id, files := range map[string]string{"": "", ids["there"]: "two.txt three.txt", ids["later"]: ""} {
		told := assert.Must(of.Setup(t.Context(), owner, h.session, id))(t)
		same(t, "the files of a branch", strings.Join(told.Files, " "), files)
	}
}

func TestQuestionThatReplacesAnotherMayHaveItsMaterial(t *testing.T) {
	h := setUp(t, modeltest.Say("Green, says talk.txt:1. "+enough()), modeltest.Say("Green. "+enough()),
		modeltest.Say("No idea. "+enough()))
	q := h.question("What colour is the bridge?")
	q.Material = document.JoinParts(append([]document.Part{{Name: "talk.txt", Text: "Paint the bridge green."},
		{Name: "plan.pdf p. 1", Text: "a"}, {Name: "plan.pdf p. 2", Text: "b"}},
		parts(t, "bridge.png", string(picture(t, 10)))...))
	files := []string{"talk.txt", "plan.pdf", "bridge.png"}
	same(t, "files", h.finish(h.startQuestion(q)).Files, files)
	again := h.question("And what colour now?")
	again.Replaces, again.SameMaterial = h.last.ID, true
	same(t, "files of the next", h.finish(h.startQuestion(again)).Files, files)
	wantParts(t, "its request", lastText(h.request(2)), "Paint the bridge green.")
	same(t, "its pictures", shown(h.request(2)), []model.Picture{{Type: "image/png", Data: picture(t, 10)}})
	without := h.question("And without it?")
	without.Replaces = h.last.ID
	same(t, "files of one without", h.finish(h.startQuestion(without)).Files, []string(nil))
	wantNoParts(t, "its request", whole(h.request(3)), "Paint the bridge green.")
	same(t, "its pictures", len(shown(h.request(3))), 0)
}

func TestCallerThatGoesAwayStopsTheRun(t *testing.T) {
	h := setUp(t, modeltest.Turn{Text: "It checks a ", Hang: true})
	h.engine = h.newEngine(h.store, "test", nil)
	ctx, leave := context.WithCancelCause(t.Context())
	spec := assert.Must(h.begin(ctx, h.store, h.question(auth)))(t)
	live := assert.Must(h.engine.Start(ctx, spec))(t)
	<-h.script.Hanging()
	leave(errors.New("the terminal was closed"))
	a := h.finish(live)
	same(t, "stop reason", a.StopReason, oracle.StopCancelled)
	same(t, "answer", a.Answer, "It checks a")
}
