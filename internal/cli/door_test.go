package cli

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"sibyl/internal/app"
	conversation "sibyl/internal/cli/talk"
	"sibyl/internal/oracle"
	"sibyl/internal/service"
	"sibyl/internal/taskchat"
)

// newTalker is the program as a conversation has it, with the trial assistant and without a model.
func newTalker(t *testing.T) *talker {
	t.Helper()
	h := newTrial(t)
	c := &command{Streams: Streams{Out: io.Discard, Err: io.Discard}, Program: Program{Build: "test", Also: riddle},
		user: string(app.Owner),
		environ: []string{"HOME=" + h.home, "XDG_CONFIG_HOME=" + h.home, "SIBYL_DATA=" + filepath.Join(h.home, "data"),
			"SIBYL_TREES=" + h.home}}
	cfg, err := c.settings()
	if err != nil {
		t.Fatal(err)
	}
	a, err := c.open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return &talker{c: c, a: a}
}

// asks has words answered, and gives the session too.
func (t *talker) asks(tt *testing.T, a conversation.Asked) (service.Result, string) {
	tt.Helper()
	r, err := t.Start(tt.Context(), a)
	if err != nil {
		tt.Fatalf("%+v: %v", a, err)
	}
	res, err := r.Wait(tt.Context())
	if err != nil {
		tt.Fatal(err)
	}
	return res, r.Session
}

func TestEveryAssistantHasACommandOfTheConversationAFifthToo(t *testing.T) {
	talk := newTalker(t)
	var all []string
	for _, a := range talk.assistants() {
		all = append(all, a.Command)
		if a.Name == "riddle" && (a.Title != "Riddle" || a.About != "makes riddles" || len(a.Flags) != 2 ||
			a.Flags[0].Kind != "=kind dark") {
			t.Errorf("%+v", a)
		}
	}
	if got := strings.Join(all, " "); got != "/ask /task /council /investigate /riddle" {
		t.Error(got)
	}
	res, _ := talk.asks(t, conversation.Asked{Of: "riddle",
		Words: "--tone dark --lines=3 a door,\nhalf open", Flagged: true})
	if res.Answer != "A dark riddle of 3 lines about a door,\nhalf open." {
		t.Error(res.Answer)
	}
	if res, _ := talk.asks(t, conversation.Asked{Of: "riddle", Words: "--tone dark a door"}); !strings.Contains(
		res.Answer, "about --tone dark") {
		t.Errorf("words without a command are taken for options: %s", res.Answer)
	}
	for _, words := range []string{"--lines 99 a door", "--nothing a door", "--tone dark"} {
		if _, err := talk.Start(t.Context(), conversation.Asked{Of: "riddle", Words: words,
			Flagged: true}); err == nil {
			t.Errorf("%s is taken", words)
		}
	}
}

func TestPlainWishesAreOfferedToTasksAlone(t *testing.T) {
	talk := newTalker(t)
	for words, want := range map[string]string{"remind me to buy milk": "Add the task 'buy milk'?",
		"füge Milch zu meiner Liste hinzu": "Die Aufgabe 'Milch'", "show my tasks": "Show the tasks?"} {
		if name, question := talk.Offer(words, oracle.Name); name != taskchat.Name ||
			!strings.HasPrefix(question, want) {
			t.Errorf("%s: %q, %q", words, name, question)
		}
		if name, _ := talk.Offer(words, taskchat.Name); name != "" {
			t.Errorf("%s is offered to whom it is said", words)
		}
	}
	if name, question := talk.Offer("How are errors handled?", oracle.Name); name != "" {
		t.Error(question)
	}
}

func TestCouncilKeepsWordsInOneSessionAndSaysWhyNobodyAnswers(t *testing.T) {
	talk := newTalker(t)
	var sessions []string
	for _, words := range []string{"We should move.", "--oracle skeptic The rent is high."} {
		session := strings.Join(sessions, "")
		_, err := talk.Start(t.Context(), conversation.Asked{Of: "council",
			Session: session, Words: words, Flagged: true})
		var kept *conversation.KeptError
		if !errors.As(err, &kept) || !strings.Contains(err.Error(), "but not answered: oracles need a language model") {
			t.Fatalf("%v", err)
		}
		if session != "" && kept.Session != session {
			t.Errorf("%s is kept in another session", words)
		}
		sessions = []string{kept.Session}
	}
	if _, err := talk.Start(t.Context(), conversation.Asked{Of: "council", Words: "--oracle nobody Why?",
		Flagged: true}); err == nil || !strings.Contains(err.Error(), "no oracle is called") {
		t.Errorf("%v", err)
	}
	desk, err := talk.a.Council.Desk(talk.c.owner())
	if err != nil {
		t.Fatal(err)
	}
	all, _, err := desk.List(t.Context())
	if err != nil || len(all) != 1 || len(all[0].Audio) != 2 {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestInquiryAsksForItsWitnessAndEndsInAFewLines(t *testing.T) {
	talk := newTalker(t)
	_, err := talk.Start(t.Context(), conversation.Asked{Of: "inquiry",
		Words: "The bridge was closed because of rust", Flagged: true})
	var missing *conversation.MissingError
	if !errors.As(err, &missing) || missing.Flag.Name != "witness" || missing.Flag.Kind != "witness" {
		t.Fatalf("%v", err)
	}
	papers := filepath.Join(t.TempDir(), "my papers")
	write(t, filepath.Join(papers, "a.txt"), "The bridge was closed because of rust in 2019.")
	res, session := talk.asks(t, conversation.Asked{Of: "inquiry", Words: `--witness "` + papers +
		`" --limit 5 The bridge was closed because of rust`, Flagged: true})
	if beside := strings.Join(res.Warnings, "\n"); !strings.Contains(res.Answer, "in 2019") ||
		strings.Count(res.Answer, "\n") > 14 || !strings.Contains(beside, "the session is in ") {
		t.Errorf("%s\n%s", res.Answer, beside)
	}
	if _, again := talk.asks(t, conversation.Asked{Of: "inquiry", Session: session, Words: `--witness="` + papers +
		`" It was rust`, Flagged: true}); again == "" {
		t.Error("a second one begins no session")
	}
}

func TestQuestionsAreAskedWithTheFoldersAndTheModelOfTheConversation(t *testing.T) {
	talk := newTalker(t)
	code := t.TempDir()
	write(t, filepath.Join(code, "lease.go"),
		"package lease\n\n// Take takes over the lease of a process that is dead.\nfunc Take() {}\n")
	with := conversation.With{Model: "offline:rules", Code: code}
	res, session := talk.asks(t, conversation.Asked{Of: oracle.Name,
		Words: "Who takes over the lease of a dead process?", With: with})
	if !strings.Contains(res.Answer, "lease.go:") || !strings.Contains(strings.Join(res.Notes, ""),
		"found 1 place; searched the code, read 1 place; ") {
		t.Errorf("%+v", res.Shown)
	}
	if last, err := talk.Last(t.Context(), session); err != nil || last.Answer != res.Answer {
		t.Errorf("%+v, %v", last, err)
	}
	with.Model = "nobody:knows"
	if _, err := talk.Start(t.Context(), conversation.Asked{Of: oracle.Name, Words: "Why?", With: with}); err == nil {
		t.Error("the model of the conversation is not asked for")
	}
}
