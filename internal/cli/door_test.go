package cli

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"sibyl/internal/app"
	"sibyl/internal/behaviour/assert"
	conversation "sibyl/internal/cli/talk"
	"sibyl/internal/service"
)

// newTalker is the program as a conversation has it, with the trial assistant and without a model.
func newTalker(t *testing.T) *talker {
	t.Helper()
	h := newTrial(t)
	c := &command{Streams: Streams{Out: io.Discard, Err: io.Discard}, Program: Program{Build: "test", Also: riddle},
		user: string(app.Owner),
		environ: []string{"HOME=" + h.home, "XDG_CONFIG_HOME=" + h.home, "SIBYL_DATA=" + filepath.Join(h.home, "data"),
			"SIBYL_TREES=" + h.home}}
	cfg := assert.Must(c.settings())(t)
	a := assert.Must(c.open(t.Context(), cfg))(t)
	t.Cleanup(func() { assert.Nil(t, a.Close()) })
	return &talker{c: c, a: a}
}

// asks has words answered, and gives the session too.
func (t *talker) asks(tt *testing.T, a conversation.Asked) (service.Result, string) {
	tt.Helper()
	r, err := t.Start(tt.Context(), a)
	assert.NoErrorf(tt, err, "%+v", a)
	res := assert.Must(r.Wait(tt.Context()))(tt)
	return res, r.Session
}

func TestEveryAssistantHasACommandOfTheConversationAFifthToo(t *testing.T) {
	talk := newTalker(t)
	var all []string
	for _, a := range talk.assistants() {
		all = append(all, a.Command)
		assert.That(t, a.Name != "riddle" || (a.Title == "Riddle" && a.About == "makes riddles" && len(a.Flags) == 2 &&
			a.Flags[0].Kind == "=kind dark"), "%+v", a)
	}
	assert.Equal(t, strings.Join(all, " "), "/ask /task /council /investigate /riddle")
	res, _ := talk.asks(t, conversation.Asked{Of: "riddle",
		Words: "--tone dark --lines=3 a door,\nhalf open", Flagged: true})
	assert.That(t, res.Answer == "A dark riddle of 3 lines about a door,\nhalf open.", "%v", res.Answer)
	for words, about := range map[string]string{"a door --tone dark --lines=3": "about a door.",
		"--lines 3 a door -- ajar - --tone dark":      "about a door -- ajar -.",
		"--lines 3 --tone dark a --tone of doors":     "about a --tone of doors.",
		"--lines 3 --tone dark -- a door --tone pale": "about a door --tone pale."} {
		res, _ = talk.asks(t, conversation.Asked{Of: "riddle", Words: words, Flagged: true})
		assert.That(t, res.Answer == "A dark riddle of 3 lines "+about, "%s: %v", words, res.Answer)
	}
	res, _ = talk.asks(t, conversation.Asked{Of: "riddle", Words: "--tone dark a door"})
	assert.That(t, strings.Contains(res.Answer, "about --tone dark"),
		"words without a command are taken for options: %s", res.Answer)
	for _, words := range []string{"--lines 99 a door", "--nothing a door", "--tone dark"} {
		_, err := talk.Start(t.Context(), conversation.Asked{Of: "riddle", Words: words,
			Flagged: true})
		assert.That(t, err != nil, "%s is taken", words)
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
		assert.Require(t, errors.As(err, &kept) &&
			strings.Contains(err.Error(), "but not answered: oracles need a language model"), "%v", err)
		assert.That(t, session == "" || kept.Session == session, "%s is kept in another session", words)
		sessions = []string{kept.Session}
	}
	_, err := talk.Start(t.Context(), conversation.Asked{Of: "council", Words: "--oracle nobody Why?",
		Flagged: true})
	assert.That(t, err != nil && strings.Contains(err.Error(), "no oracle is called"), "%v", err)
	desk := assert.Must(talk.a.Council.Desk(talk.c.owner()))(t)
	all, _, err := desk.List(t.Context())
	assert.That(t, err == nil && len(all) == 1 && len(all[0].Audio) == 2, "%+v, %v", all, err)
}

func TestInquiryAsksForItsWitnessAndEndsInAFewLines(t *testing.T) {
	talk := newTalker(t)
	_, err := talk.Start(t.Context(), conversation.Asked{Of: "inquiry",
		Words: "The bridge was closed because of rust", Flagged: true})
	var missing *conversation.MissingError
	assert.Require(t, errors.As(err, &missing) && missing.Flag.Name == "witness" && missing.Flag.Kind == "witness",
		"%v", err)
	papers := filepath.Join(t.TempDir(), "my papers")
	write(t, filepath.Join(papers, "a.txt"), "The bridge was closed because of rust in 2019.")
	res, session := talk.asks(t, conversation.Asked{Of: "inquiry", Words: `--witness "` + papers +
		`" --limit 5 The bridge was closed because of rust`, Flagged: true})
	beside := strings.Join(res.Warnings, "\n")
	assert.That(t, strings.Contains(res.Answer, "in 2019") && strings.Count(res.Answer, "\n") <= 14 &&
		strings.Contains(beside, "the session is in "), "%s\n%s", res.Answer, beside)
	_, again := talk.asks(t, conversation.Asked{Of: "inquiry", Session: session, Words: `--witness="` + papers +
		`" It was rust`, Flagged: true})
	assert.That(t, again != "", "a second one begins no session")
}
