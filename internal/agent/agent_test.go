package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/run"
)

// A server whose window is too small leaves out a part of what it was sent, and says nothing but how much it has read.
func TestRequestOfWhichTheServerReadOnlyAPartIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		replies []Reply
		told    bool
	}{
		"all was read": {[]Reply{{Sent: 4000, Counted: 4100}, {Sent: 4500, Counted: 4600}},
			false},
		"it counts fewer than is estimated": {[]Reply{{Sent: 4000, Counted: 2500}, {Sent: 4500, Counted: 2800}},
			false},
		"far fewer": {[]Reply{{Sent: 9000, Counted: 4096}}, true},
		"as many as before, although more was": {[]Reply{{Sent: 4000, Counted: 4096}, {Sent: 4800, Counted: 4096}},
			true},
		"as many as before, of the same": {[]Reply{{Sent: 4000, Counted: 4096}, {Sent: 4000, Counted: 4096}},
			false},
		"it counts nothing": {[]Reply{{Sent: 9000}, {Sent: 9500}}, false},
		"as many as before, since results were cut": {[]Reply{{Sent: 4000, Counted: 4096},
			{Sent: 4800, Counted: 4096, Cut: true}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			l := &Ledger{}
			for _, r := range c.replies {
				l.EnterReply(r)
			}
			told := 0
			for _, n := range l.Notices {
				if n.Type == NoticeTruncated {
					told++
				}
			}
			if want := map[bool]int{true: 1}[c.told]; told != want {
				t.Errorf("it is told %d times, not %d", told, want)
			}
		})
	}
}

// silent is a report that says nothing.
type silent struct{}

func (silent) Said() string                            { return "" }
func (silent) Called() []model.ToolCall                { return nil }
func (silent) Among([]model.ToolCall) []model.ToolCall { return nil }

// A run is not ended by a journal that is away: who drives it must be able to tell that from a request that can't be
// composed.
func TestRequestThatCanNotReadTheJournalIsAFaultThatSaysWhy(t *testing.T) {
	b := &Builder[silent]{Of: func(TurnPayload) (TurnPrompt, error) {
		return nil, fmt.Errorf("an earlier exchange: %w", journal.ErrUnreachable)
	}}
	job := run.Job{View: &run.View{}, Effect: bt.Effect{Kind: EffectTurn, Payload: json.RawMessage(`{}`)}}
	_, err := Turns(b, nil, nil).Do(context.Background(), job)
	var f *bt.Fault
	if !errors.As(err, &f) || f.Kind != "request" || !errors.Is(err, journal.ErrUnreachable) {
		t.Errorf("the error is %v, with the fault %+v", err, f)
	}
}

func TestResultsThatAreCutAreShorterThanBefore(t *testing.T) {
	for _, over := range []int{1, 5, 30, 300} {
		messages := []model.Message{{Role: model.User, Text: "question"},
			{Role: model.ToolRole, Text: strings.Repeat("word", 600)}}
		tokens := Tokens(messages[0].Text) + Tokens(messages[1].Text)
		cut, left := cutToFit(messages, tokens, tokens-over)
		assert.That(t, left <= tokens-over, "%d tokens too many: %d of %d stay", over, left, tokens)
		got := Tokens(cut[0].Text) + Tokens(cut[1].Text)
		assert.That(t, got == left, "%d tokens are said to be %d", got, left)
	}
}

func TestTokensAreAQuarterOfTheCharactersRoundedUp(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 1, "abcd": 1, "abcde": 2, "ãããã": 1, "🔮🔮🔮🔮🔮": 2} {
		assert.Equalf(t, Tokens(text), want, "%q", text)
	}
}

func TestStoryOfACallNamesWhatItWasAbout(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"query":"a \"lease\"","limit":3}`: `a "lease"`,
		`{"start":1,"path":"a/b.go"}`:       "a/b.go",
		`{"query":"cut in the mid`:          "cut in the mid…",
		`{"query":"cut in the mid…`:         "cut in the mid…",
		`{"url":"https://a.example/?q=\`:    "https://a.example/?q=…",
		`{"limit":3}`:                       "",
		``:                                  "",
	} {
		assert.Equalf(t, subjectOf(arguments), want, "%s is about", arguments)
	}
	if told := (CallDone{Tool: "code_search", Arguments: `{"query":"lease"}`, Items: 3}).
		Story(); told.Text != "Searched the code for “lease”: 3 found" || told.Code != "story.searched.code" {
		t.Errorf("a search is told as %q (%s)", told.Text, told.Code)
	}
	told := (CallDone{Tool: "thread_seek", Arguments: `{}`, Error: "gone"}).
		Story()
	assert.That(t, told.Text == "thread seek failed: gone", "a failure is told as %q", told.Text)
}
