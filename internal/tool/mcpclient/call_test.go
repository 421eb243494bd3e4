package mcpclient

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/tool"
)

// eras are the protocols that a server may speak: with questions within a call, and beside it.
var eras = map[string][]string{"2026-07-28": nil, "2025-11-25": {"2025-11-25"}}

// confirmationOf is what a person confirms to remove the thing as it is.
func confirmationOf(t *testing.T, args string, version int64) *tool.Confirmation {
	t.Helper()
	digest := assert.Must(tool.ConfirmationDigest("remove", json.RawMessage(args), version))(t)
	return &tool.Confirmation{ID: "row", Digest: digest}
}

func TestListedHintsBecomeEffects(t *testing.T) {
	session := connect(t, InProcess(newShelf().server()), Config{Prefix: "shelf__", Source: "shelf", Foreign: true})
	got := map[string]tool.Spec{}
	for _, one := range session.Tools() {
		s := one.Spec()
		assert.That(t, s.Title != "" && s.Description != "" && string(s.Schema) == anyObject && s.Source == "shelf" &&
			s.Foreign, "%+v", s)
		got[s.Name] = tool.Spec{Effect: s.Effect, Destructive: s.Destructive, Idempotent: s.Idempotent}
	}
	want := map[string]tool.Spec{
		"shelf__look":   {Effect: tool.Repeatable},
		"shelf__refuse": {Effect: tool.Repeatable},
		"shelf__remove": {Effect: tool.Once, Destructive: true, Idempotent: true},
		"shelf__put":    {Effect: tool.Once},
		"shelf__wait":   {Effect: tool.Once, Destructive: true}, // nothing is said of it
	}
	assert.Same(t, want, got)
}

func TestCallCarriesKeyAndVersion(t *testing.T) {
	for own, want := range map[bool]any{true: float64(3), false: nil} {
		s := newShelf()
		session := connect(t, InProcess(s.server()), Config{Own: own})
		res, err := toolNamed(t, session, "look").Call(t.Context(), tool.Call{Args: json.RawMessage(`{"a":1}`),
			Key: "run/7", Version: 3})
		assert.That(t, err == nil && res.Text == `seen {"a":1}` && string(res.Data) == `{"success":true}` && res.Items == 1,
			"%+v, %v", res, err)
		m := s.metas[0]
		assert.That(t, m[tool.MetaKey] == "run/7" && m[tool.MetaVersion] == want, "own %v: sent %v", own, m)
	}
}

func TestCancelledCallIsCancelledAtTheServer(t *testing.T) {
	for era, versions := range eras {
		t.Run(era, func(t *testing.T) {
			s := newShelf()
			s.eras = versions
			wait := toolNamed(t, connect(t, InProcess(s.server()), Config{}), "wait")
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() {
				_, err := wait.Call(ctx, tool.Call{Key: "k"})
				done <- err
			}()
			receiveInTime(t, s.began, "the call at the server")
			cancel()
			err := receiveInTime(t, done, "the end of the call")
			assert.That(t, kindOfError(err) == tool.Cancelled && strings.Contains(err.Error(), "not known"), "%v", err)
			receiveInTime(t, s.cancelled, "the cancellation at the server")
		})
	}
}

func TestConfirmationIsGivenOnlyForWhatWasConfirmed(t *testing.T) {
	const args = `{"id":1}`
	for name, c := range map[string]struct {
		confirmed *tool.Confirmation
		sent      string // arguments
		saw       int64  // version
		want      tool.Kind
		answer    string // at the server; "": it was not asked
	}{
		"this very call":            {confirmationOf(t, args, 3), `{ "id": 1 }`, 3, "", "accept"},
		"nothing":                   {nil, args, 3, tool.Denied, "decline"},
		"other arguments":           {confirmationOf(t, `{"id":2}`, 3), args, 3, tool.Denied, ""},
		"an older version":          {confirmationOf(t, args, 2), args, 2, tool.Conflict, ""},
		"any version":               {confirmationOf(t, args, 0), args, 0, tool.Conflict, "decline"},
		"another tool":              {&tool.Confirmation{Digest: "sha256:0"}, args, 3, tool.Denied, ""},
		"another version than sent": {confirmationOf(t, args, 3), args, 2, tool.Denied, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShelf()
			session := connect(t, InProcess(s.server()), Config{Own: true})
			_, err := toolNamed(t, session, "remove").Call(t.Context(), tool.Call{Args: json.RawMessage(c.sent), Key: "k",
				Version: c.saw, Confirmation: c.confirmed})
			assert.That(t, kindOfError(err) == c.want, "%v, want %q", err, c.want)
			if removed := s.removed > 0; removed != (c.want == "") || strings.Join(s.answers, ",") != c.answer {
				t.Errorf("removed %d, answered %v, want %q", s.removed, s.answers, c.answer)
			}
		})
	}
}

func TestSimultaneousCallsAreConfirmedEachForItself(t *testing.T) {
	s := newShelf()
	remove := toolNamed(t, connect(t, InProcess(s.server()), Config{Own: true}), "remove")
	done := make(chan error, 2)
	for _, c := range []tool.Call{
		{Args: json.RawMessage(`{"id":1}`), Key: "yes", Confirmation: confirmationOf(t, `{"id":1}`, 3), Version: 3},
		{Args: json.RawMessage(`{"id":2}`), Key: "no"},
	} {
		go func() {
			_, err := remove.Call(t.Context(), c)
			assert.That(t, (c.Confirmation == nil || err == nil) && (c.Confirmation != nil || kindOfError(err) == tool.Denied),
				"%s: %v", c.Key, err)
			done <- err
		}()
	}
	for range 2 {
		_ = receiveInTime(t, done, "a call")
	}
	if s.removed != 1 || s.byKey["yes"] == nil {
		t.Errorf("removed %d, by %v", s.removed, s.byKey)
	}
}

func TestStrangersAreNeverConfirmed(t *testing.T) {
	for era, versions := range eras {
		s := newShelf()
		s.eras = versions
		session := connect(t, InProcess(s.server()), Config{Foreign: true})
		_, err := toolNamed(t, session, "remove").Call(t.Context(), tool.Call{Args: json.RawMessage(`{"id":1}`), Key: "k",
			Version: 3, Confirmation: confirmationOf(t, `{"id":1}`, 3)})
		if err == nil || s.removed > 0 || len(s.answers) > 0 {
			t.Errorf("%s: %v, removed %d, answered %v", era, err, s.removed, s.answers)
		}
	}
}

func TestFoundGivesTheFirstResultAndPerformsNothing(t *testing.T) {
	s := newShelf()
	session := connect(t, InProcess(s.server()), Config{Own: true})
	remove := toolNamed(t, session, "remove")
	call := tool.Call{Args: json.RawMessage(`{"id":1}`), Key: "k", Version: 3,
		Confirmation: confirmationOf(t, `{"id":1}`, 3)}
	first := assert.Must(remove.Call(t.Context(), call))(t)
	again, was, err := remove.(tool.Finder).Found(t.Context(), call)
	assert.That(t, err == nil && was && again.Text == first.Text && s.removed == 1,
		"%+v, %v, %v; removed %d", again, was, err, s.removed)
	call.Key = "other"
	if _, was, err := remove.(tool.Finder).Found(t.Context(), call); was || err != nil || s.removed != 1 {
		t.Errorf("a write that was never performed: %v, %v; removed %d", was, err, s.removed)
	}
	session.Close()
	_, was, err = remove.(tool.Finder).Found(t.Context(), call)
	assert.That(t, !was && err != nil, "without a server: %v, %v", was, err)
}

func TestOnlyWritesOfOurOwnServerAreFinders(t *testing.T) {
	for own, want := range map[bool]int{true: 3, false: 0} {
		finders := 0
		for _, one := range connect(t, InProcess(newShelf().server()), Config{Own: own}).Tools() {
			if _, is := one.(tool.Finder); is {
				finders++
			}
		}
		assert.That(t, finders == want, "own %v: %d finders, want %d", own, finders, want)
	}
}

func TestCodesOfOurServerBecomeKinds(t *testing.T) {
	refuse := toolNamed(t, connect(t, InProcess(newShelf().server()), Config{Own: true}), "refuse")
	for code, want := range map[string]tool.Kind{
		"VALIDATION_ERROR": tool.InvalidArgs, "NOT_FOUND": tool.NotFound, "CONFLICT": tool.Conflict,
		"CONFIRMATION_REQUIRED": tool.Denied, "FORBIDDEN": tool.Denied,
		"UNAVAILABLE":    tool.Busy,
		"DATABASE_ERROR": tool.Unavailable, "INTERNAL_ERROR": tool.Failed, "A_CODE_OF_TOMORROW": tool.Failed,
	} {
		_, err := refuse.Call(t.Context(), tool.Call{Args: json.RawMessage(`{"code":"` + code + `"}`)})
		if text := "no, " + code; kindOfError(err) != want || code != codeUnconfirmed && err.Error() != text {
			t.Errorf("%s: %v, want %s", code, err, want)
		}
	}
}

func TestCallsThatCannotBeAreNotSent(t *testing.T) {
	s := newShelf()
	s.extra = &mcp.Tool{Name: "strict",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)}
	session := connect(t, InProcess(s.server()), Config{})
	for name, c := range map[string]struct {
		tool string
		call tool.Call
		want tool.Kind
	}{
		"a list":             {"look", tool.Call{Args: json.RawMessage(`[1]`)}, tool.InvalidArgs},
		"no JSON":            {"look", tool.Call{Args: json.RawMessage(`{"a"`)}, tool.InvalidArgs},
		"a write, no key":    {"put", tool.Call{}, tool.Failed},
		"against the schema": {"strict", tool.Call{Key: "k", Args: json.RawMessage(`{"n":"one"}`)}, tool.InvalidArgs},
	} {
		_, err := toolNamed(t, session, c.tool).Call(t.Context(), c.call)
		assert.That(t, kindOfError(err) == c.want, "%s: %v, want %s", name, err, c.want)
	}
	assert.That(t, len(s.metas) == 0, "%d calls were sent", len(s.metas))
}

// receiveInTime gives what a channel brings, in time.
func receiveInTime[T any](t *testing.T, c <-chan T, what string) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	select {
	case v := <-c:
		return v
	case <-ctx.Done():
		t.Fatalf("waited in vain for %s", what)
	}
	panic("unreachable")
}
