package model

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/behaviour/assert"
)

func TestEveryLineOfWindowsIsReadAndReached(t *testing.T) {
	lines := 0
	for line := range strings.Lines(windowsFile) {
		if text := strings.TrimSpace(line); text != "" && !strings.HasPrefix(text, "#") {
			lines++
		}
	}
	assert.That(t, len(windowRules()) == lines, "%d of %d lines were read", len(windowRules()), lines)
	for _, w := range windowRules() {
		name := strings.NewReplacer("[678]", "7", "[1-3]", "2", "[5-9]", "6", "[5-7]", "6", "[134]", "3", "claude-*",
			"claude-x", "*", "").Replace(w.pattern)
		if got := InfoByName(name); got != w.info || got.Window <= 0 || got.Output < 0 {
			t.Errorf("%s, which is to fit %s, is known as %+v; want %+v", name, w.pattern, got, w.info)
		}
	}
}

func TestModelIsKnownByItsNameAlone(t *testing.T) {
	for name, want := range map[string]Info{
		"claude-opus-4-5-20251101":    {Window: 200_000, Output: 64_000},
		"anthropic/claude-sonnet-4.6": {Window: 1_000_000, Output: 64_000},
		"claude-haiku-5-5":            {Window: 1_000_000, Output: 128_000},
		"GPT-4.1-mini":                {Window: 1_047_576, Output: 32_768},
		"gpt-4-1106-preview":          {Window: 128_000, Output: 4096, NoPictures: true},
		"gpt-4o-mini":                 {Window: 128_000, Output: 16_384},
		"o3-mini":                     {Window: 200_000, Output: 100_000, NoPictures: true},
		"gpt-5.2-chat-latest":         {Window: 128_000, Output: 16_384},
		"gpt-5.4":                     {Window: 400_000, Output: 128_000},
		"models/gemini-2.5-flash":     {Window: 1_048_576, Output: 65_536},
		"my-model":                    {},
		"":                            {},
	} {
		assert.Equalf(t, InfoByName(name), want, "%s", name)
	}
}

// asked describes models, and remembers for which it was asked.
type asked struct {
	told  map[string]Info
	names []string
}

func (a *asked) describe(_ context.Context, name string) (Info, error) {
	a.names = append(a.names, name)
	if info, ok := a.told[name]; ok {
		return info, nil
	}
	return Info{}, errors.New("it does not say")
}

func TestWindowComesFromSettingElseProviderElseName(t *testing.T) {
	const name = "gpt-4.1"
	for _, c := range []struct {
		says     string
		provider Provider
		told     map[string]Info
		want     Info
		asks     int
		fails    bool
	}{
		{"a setting", Provider{Window: 5000}, map[string]Info{name: {Window: 9000, Output: 7}},
			Info{Window: 5000, Output: 32_768}, 0, false},
		{"a setting of a local one", Provider{Window: 5000, Local: true}, map[string]Info{name: {Window: 4000}},
			Info{Window: 5000}, 0, false},
		{"the provider", Provider{}, map[string]Info{name: {Window: 9000}}, Info{Window: 9000, Output: 32_768}, 1,
			false},
		{"the name", Provider{}, nil, Info{Window: 1_047_576, Output: 32_768}, 1, true},
		{"nothing, as a local model is not the one that is hosted", Provider{Local: true}, nil, Info{}, 1, true},
	} {
		a := &asked{told: c.told}
		c.provider.Name, c.provider.Describe = "house", a.describe
		got, err := Catalog{c.provider}.Describe(t.Context(), "house:"+name)
		assert.That(t, got == c.want && len(a.names) == c.asks && (err != nil) == c.fails,
			"%s: %+v, %v, asked %d times; want %+v", c.says, got, err, len(a.names), c.want)
	}
}

// A provider that never answers holds up nobody, and what it told before counts.
func TestWhatIsKnownOfAModelIsToldWithoutWaitingForItsProvider(t *testing.T) {
	const never = -1
	for _, c := range []struct {
		says  string
		local bool
		last  Info
		age   time.Duration
		name  string
		want  Info
		asks  bool
	}{
		{"nothing", true, Info{}, never, "m", Info{}, true},
		{"a name in the table", false, Info{}, never, "gpt-4.1", Info{Window: 1_047_576, Output: 32_768}, true},
		{"an old report", false, Info{Window: 9000}, renewHosted, "m", Info{Window: 9000}, true},
		{"an old report of a local server", true, Info{Window: 9000}, renewLocal, "m", Info{Window: 9000}, true},
		{"a report", false, Info{Window: 9000}, renewLocal, "m", Info{Window: 9000}, false},
		{"a report of nothing", false, Info{}, 0, "m", Info{}, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			asked := false
			got := Catalog{{Name: "house", Local: c.local,
				Last: func(string) (Info, time.Time) {
					if c.age == never {
						return Info{}, time.Time{}
					}
					return c.last, time.Now().Add(-c.age)
				},
				Describe: func(ctx context.Context, _ string) (Info, error) {
					asked = true
					<-ctx.Done()
					return Info{}, ctx.Err()
				}}}.Known(t.Context(), "house:"+c.name)
			synctest.Wait()
			assert.That(t, got == c.want && asked == c.asks, "%s: %+v, asked: %t", c.says, got, asked)
			time.Sleep(describeTimeout) // until the request has ended
		})
	}
}

func TestFirstReportOfAModelCountsIfItComesAtOnce(t *testing.T) {
	a := &asked{told: map[string]Info{"m": {Window: 4096}}}
	got := Catalog{{Name: "house", Local: true, Describe: a.describe}}.Known(t.Context(), "house:m")
	assert.Equal(t, got, Info{Window: 4096})
}

func TestModelThatChatsWithToolsIsTaken(t *testing.T) {
	for _, c := range []struct {
		says  string
		names []string
		told  map[string]Info
		want  string
	}{
		{"all-minilm first", []string{"all-minilm", "qwen3"},
			map[string]Info{"all-minilm": {NoChat: true, NoTools: true}, "qwen3": {}}, "local:qwen3"},
		{"one without tools first", []string{"gemma", "qwen3"}, map[string]Info{"gemma": {NoTools: true}, "qwen3": {}},
			"local:qwen3"},
		{"none with tools", []string{"all-minilm", "gemma"}, map[string]Info{"all-minilm": {NoChat: true},
			"gemma": {NoTools: true}}, "local:gemma"},
		{"a server that does not say", []string{"a", "b"}, nil, "local:a"},
		{"nothing that chats", []string{"all-minilm"}, map[string]Info{"all-minilm": {NoChat: true}}, "offline:rules"},
		{"no model", nil, nil, "offline:rules"},
	} {
		local := Provider{Name: "local", Local: true, Automatic: true, Probe: true,
			Describe: (&asked{told: c.told}).describe,
			List:     func(context.Context) ([]string, error) { return c.names, nil }}
		got, err := Catalog{local, {Name: "offline", Automatic: true, Default: "rules"}}.Choose(t.Context(), "")
		assert.That(t, err == nil && got == c.want, "%s: %q, %v; want %q", c.says, got, err, c.want)
	}
}
