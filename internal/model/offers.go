package model

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"
)

// Offers tells which models can be asked. What a provider lists is asked for again only after a while.
type Offers struct {
	Catalog
	now func() time.Time

	mu    sync.Mutex
	lists map[string]offered
}

// Offer is what one provider has. Models are those that may chat; none if it is not set up, or with an error.
type Offer struct {
	Provider
	Models []Offered
	Err    error
}

// Offered is a model by its whole name, with what is known of it.
type Offered struct {
	ID string
	Info
}

// offered is an Offer as it was at a time.
type offered struct {
	Offer
	at time.Time
}

// How long a provider is waited for, and how long what it listed, or that it failed, is believed.
const (
	offerTime = 3 * time.Second
	offerKept = time.Minute
	failKept  = 5 * time.Second
)

// NewOffers asks the providers of a catalog. now nil: the time of day.
func NewOffers(c Catalog, now func() time.Time) *Offers {
	if now == nil {
		now = time.Now
	}
	return &Offers{Catalog: c, now: now, lists: map[string]offered{}}
}

// All asks every provider that is set up at once, each for a few seconds at most. They come in the order of the
// catalog.
func (o *Offers) All(ctx context.Context) []Offer {
	all := make([]Offer, len(o.Catalog))
	var looks sync.WaitGroup
	for i, p := range o.Catalog {
		looks.Go(func() { all[i] = o.of(ctx, p) })
	}
	looks.Wait()
	return all
}

func (o *Offers) of(ctx context.Context, p Provider) Offer {
	if p.Missing != "" {
		return Offer{Provider: p}
	}
	o.mu.Lock()
	last, known := o.lists[p.Name]
	o.mu.Unlock()
	kept := offerKept
	if last.Err != nil {
		kept = failKept
	}
	if known && o.now().Sub(last.at) < kept {
		return last.Offer
	}
	offer := p.offer(ctx)
	if ctx.Err() == nil { // who asked has gone: that says nothing of the provider
		o.mu.Lock()
		defer o.mu.Unlock()
		o.lists[p.Name] = offered{offer, o.now()}
	}
	return offer
}

// offer asks for the models, and of those on the person's own machines what they can.
func (p Provider) offer(ctx context.Context) Offer {
	ctx, cancel := context.WithTimeout(ctx, offerTime)
	defer cancel()
	all := Offer{Provider: p}
	names, err := p.List(ctx)
	if err != nil {
		all.Err = err
		return all
	}
	infos := make([]Info, len(names))
	var looks sync.WaitGroup
	for i, name := range names {
		infos[i] = Known(name)
		if p.Local && p.Describe != nil && mayChat(name, true) {
			looks.Go(func() { infos[i], _ = p.describe(ctx, name) }) // one that is not told of may chat
		}
	}
	looks.Wait()
	for i, name := range names {
		if !infos[i].NoChat && mayChat(name, p.Local) {
			all.Models = append(all.Models, Offered{p.Name + ":" + name, infos[i]})
		}
	}
	return all
}

// mayChat says whether the name of a model speaks against it: vendors list all that they sell.
func mayChat(name string, local bool) bool {
	no := []string{"embed"}
	if !local {
		no = append(no, "whisper", "tts", "dall-e", "image", "moderation", "realtime", "audio", "transcribe", "sora",
			"veo", "rerank")
	}
	name = strings.ToLower(name)
	return !slices.ContainsFunc(no, func(part string) bool { return strings.Contains(name, part) })
}
