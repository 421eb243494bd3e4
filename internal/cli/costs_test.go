package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/config"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
)

func TestCostsOfAMonthAreToldDayByDayAndInAll(t *testing.T) {
	var out, err bytes.Buffer
	c := &command{Streams: Streams{Out: &out, Err: &err}, prices: config.Prices{}.OrPublic()}
	month := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	known := assistant.Usage{Model: "anthropic:claude-haiku-4-5-20251001", Input: 1_000_000, Output: 100_000}
	unknown := assistant.Usage{Model: "ollama:small", Input: 10, Output: 1}
	days := []service.Spent{{Day: "2026-11-02", Runs: 2, Used: []assistant.Usage{known}},
		{Day: "2026-11-01", Runs: 1, Used: []assistant.Usage{known, unknown}}}
	assert.NoError(t, c.printCosts(month, days))
	want := "2026-11-01  1 run     1000010 tokens in, 100001 out\n" +
		"2026-11-02  2 runs    1000000 tokens in, 100000 out; about 1.50 USD\n" +
		"2026-11     3 runs    2000010 tokens in, 200001 out\n"
	assert.That(t, out.String() == want && strings.Contains(err.String(), "public prices of 20"),
		"%s%s", out.String(), err.String())
}
