package agent_test

import (
	"errors"
	"testing"

	"sibyl/internal/agent"
	"sibyl/internal/model"
)

func TestRefusedRequestNearTheWindowCountsAsTooLong(t *testing.T) {
	refused := func(kind model.Kind, status int) error {
		return &model.Error{Kind: kind, Status: status, Message: "bad request"}
	}
	for name, c := range map[string]struct {
		err          error
		sent, window int
		want         model.Kind
	}{
		"near the window":       {refused(model.Invalid, 400), 7100, 10_000, model.ContextLength},
		"above it":              {refused(model.Invalid, 422), 12_000, 10_000, model.ContextLength},
		"small":                 {refused(model.Invalid, 400), 2000, 10_000, model.Invalid},
		"window not known":      {refused(model.Invalid, 400), 2_000_000, 0, model.Invalid},
		"an unknown model":      {refused(model.Invalid, 404), 9000, 10_000, model.Invalid},
		"a failure of its own":  {refused(model.Auth, 401), 9000, 10_000, model.Auth},
		"no failure of a model": {errors.New("x"), 9000, 10_000, model.Server},
	} {
		if got := model.KindOf(agent.WhetherTooLong(c.err, c.sent, c.window)); got != c.want {
			t.Errorf("%s: %s; want %s", name, got, c.want)
		}
	}
}
