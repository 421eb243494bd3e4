package model_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
)

// offerTexts are what all providers have, in a line each.
func offerTexts(o *model.Offers) (all []string) {
	for _, one := range o.All(context.Background()) {
		line := one.Name + ":"
		for _, m := range one.Models {
			line += " " + m.ID
		}
		switch {
		case one.Err != nil:
			line += " " + one.Err.Error()
		case one.Missing != "":
			line += " not set up"
		}
		all = append(all, line)
	}
	return all
}

func listing(names ...string) func(context.Context) ([]string, error) {
	return func(context.Context) ([]string, error) { return names, nil }
}

func TestOffersAreTheModelsThatChatOfThoseWhoAnswerInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := func(context.Context) ([]string, error) { t.Error("who is not set up is asked"); return nil, nil }
		catalog := model.Catalog{
			{Name: "vendor", List: listing("gpt-4o", "whisper-1", "text-embedding-3-small", "tts-1", "gpt-image-1")},
			{Name: "absent", Missing: "set a key", List: asked},
			{Name: "silent", List: func(ctx context.Context) ([]string, error) { <-ctx.Done(); return nil, ctx.Err() }},
			{Name: "own", Local: true, List: listing("llama", "minilm", "nomic-embed-text", "audiobook-writer"),
				Describe: func(_ context.Context, name string) (model.Info, error) {
					return model.Info{Window: 8192, NoChat: name == "minilm"}, nil
				}},
		}
		before := time.Now()
		got := offerTexts(model.NewOffers(catalog, nil))
		want := []string{"vendor: vendor:gpt-4o", "absent: not set up", "silent: context deadline exceeded",
			"own: own:llama own:audiobook-writer"}
		assert.Same(t, want, got)
		took := time.Since(before)
		assert.That(t, took <= 3*time.Second, "it took %v", took)
	})
}

func TestWhatIsOfferedIsBelievedForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		fails := true
		catalog := model.Catalog{{Name: "own", Local: true, List: func(context.Context) ([]string, error) {
			if asked.Add(1); fails {
				return nil, errors.New("it is off")
			}
			return []string{"llama"}, nil
		}}}
		o := model.NewOffers(catalog, nil)
		for step, want := range []struct {
			after time.Duration
			asked int32
			says  string
		}{{0, 1, "it is off"}, {time.Second, 1, "it is off"}, {5 * time.Second, 2, "own:llama"},
			{50 * time.Second, 2, "own:llama"}, {11 * time.Second, 3, "own:llama"}} {
			fails = step < 2
			<-time.After(want.after)
			if got := offerTexts(o)[0]; !strings.Contains(got, want.says) || asked.Load() != want.asked {
				t.Errorf("step %d: %s, asked %d times; want %+v", step, got, asked.Load(), want)
			}
		}
		gone, leave := context.WithCancel(t.Context())
		leave()
		<-time.After(time.Minute)
		o.All(gone)
		o.All(t.Context())
		assert.That(t, asked.Load() == 5, "what a request that had gone was told is believed: asked %d times", asked.Load())
	})
}
