package api_test

import (
	"testing"

	"sibyl/internal/api"
)

func TestRequestThatIsSentAgainUnderItsKeyIsTheSameRun(t *testing.T) {
	h := newHouse(t).open()
	send := func(token, key, words string) (b api.Begun) {
		q := question{method: "POST", path: "/api/runs", token: token, body: asking(words)}
		if key != "" {
			q.header = map[string]string{"Idempotency-Key": key}
		}
		if a := h.get(q, &b); a.status != 201 {
			t.Fatalf("answered with %d", a.status)
		}
		return b
	}
	first := send("", "k", "Tea?")
	h.ended("", first.Run)
	if again := send("", "k", "Tea?"); again.Run != first.Run || again.Session != first.Session {
		t.Errorf("the same key gives %+v, not %+v", again, first)
	}
	for about, other := range map[string]api.Begun{"another key": send("", "l", "Tea?"), "no key": send("", "", "Tea?"), "another user's key": send(evesToken, "k", "Tea?")} {
		if other.Run == first.Run || other.Session == first.Session {
			t.Errorf("%s gives the same run", about)
		}
	}
}
