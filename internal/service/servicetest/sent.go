package servicetest

import (
	"slices"
	"strings"
	"testing"

	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
)

// ToldAsSent compares what is shown of the effects of runs with the requests that models got: each request is shown by
// one receipt, whole, part by part and in its order, and nothing else is shown as sent to a model. Each has a bound.
func ToldAsSent(t testing.TB, s *service.Service, owner journal.Owner, runs []journal.Run, requests []model.Request) {
	t.Helper()
	left := slices.Clone(requests)
	for _, req := range requests {
		if req.Bound == 0 && req.MaxOutputTokens == 0 {
			t.Errorf("the answer to a request for %q has no bound", req.Purpose)
		}
	}
	for _, run := range runs {
		for record := range run.Records {
			r, err := s.Receipt(t.Context(), owner, run.ID, record)
			if err != nil {
				continue // no receipt
			}
			if r.Lost || r.Changed {
				t.Errorf("%s is lost: %v, or changed: %v", r.Kind, r.Lost, r.Changed)
			}
			if len(r.Sent) == 0 || r.Sent[0].Kind != assistant.PartSegment {
				continue
			}
			at := slices.IndexFunc(left, func(req model.Request) bool { return isMadeOf(req, r.Sent) })
			if at < 0 {
				t.Errorf("%s tells a request that was not sent:\n%v", r.Kind, r.Sent)
				continue
			}
			if r.To == "" || len(r.Got) == 0 {
				t.Errorf("%s does not say who answered (%q), or what: %v", r.Kind, r.To, r.Got)
			}
			left = slices.Delete(left, at, at+1)
		}
	}
	for _, req := range left {
		t.Errorf("a request is told by no receipt: %s\n%.2000s", req.Purpose, requestText(req))
	}
}

// isMadeOf says that a request is made of these parts, with nothing but blanks between them.
func isMadeOf(req model.Request, parts []service.Part) bool {
	text := requestText(req)
	for _, p := range parts {
		before, after, found := strings.Cut(text, p.Text)
		if !found || strings.TrimSpace(before) != "" {
			return false
		}
		text = after
	}
	return strings.TrimSpace(text) == ""
}

func requestText(req model.Request) string {
	text := req.System
	for _, m := range req.Messages {
		text += "\n" + m.Text
	}
	return text
}
