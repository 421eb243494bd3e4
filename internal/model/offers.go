package model

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"
)

// Offers lists the models that can be asked. A provider's list is cached for a while.
type Offers struct {
	Catalog
	now func() time.Time

	mu    sync.Mutex
	cache map[string]cachedOffer
}

// Offer is what one provider has. Models are those that may chat; none if it is not set up, or with an error.
type Offer struct {
	Provider
	Models []OfferedModel
	Err    error
}

// OfferedModel is a model by its whole name, with its known properties.
type OfferedModel struct {
	ID string
	Info
}

// cachedOffer is an Offer, and when it was fetched.
type cachedOffer struct {
	Offer
	at time.Time
}

// How long a provider may take, and how long its list, or its failure, is cached.
const (
	offerTimeout    = 3 * time.Second
	offerLifetime   = time.Minute
	failureLifetime = 5 * time.Second
)

// NewOffers makes Offers of a catalog's providers. now may be nil: time.Now.
func NewOffers(c Catalog, now func() time.Time) *Offers {
	if now == nil {
		now = time.Now
	}
	return &Offers{Catalog: c, now: now, cache: map[string]cachedOffer{}}
}

// All asks all providers that are set up at the same time, for a few seconds at most, and keeps the catalog's order.
func (o *Offers) All(ctx context.Context) []Offer {
	all := make([]Offer, len(o.Catalog))
	var requests sync.WaitGroup
	for i, p := range o.Catalog {
		requests.Go(func() { all[i] = o.offerOf(ctx, p) })
	}
	requests.Wait()
	return all
}

func (o *Offers) offerOf(ctx context.Context, p Provider) Offer {
	if p.Missing != "" {
		return Offer{Provider: p}
	}
	o.mu.Lock()
	last, known := o.cache[p.Name]
	o.mu.Unlock()
	lifetime := offerLifetime
	if last.Err != nil {
		lifetime = failureLifetime
	}
	if known && o.now().Sub(last.at) < lifetime {
		return last.Offer
	}
	offer := p.fetchOffer(ctx)
	if ctx.Err() == nil { // if the caller has gone, a failure says nothing about the provider
		o.mu.Lock()
		defer o.mu.Unlock()
		o.cache[p.Name] = cachedOffer{offer, o.now()}
	}
	return offer
}

// fetchOffer asks for the models and, on the person's own machines, for their properties.
func (p Provider) fetchOffer(ctx context.Context) Offer {
	ctx, cancel := context.WithTimeout(ctx, offerTimeout)
	defer cancel()
	all := Offer{Provider: p}
	names, err := p.List(ctx)
	if err != nil {
		all.Err = err
		return all
	}
	infos := make([]Info, len(names))
	var requests sync.WaitGroup
	for i, name := range names {
		infos[i] = InfoByName(name)
		if p.Local && p.Describe != nil && mayChat(name, true) {
			requests.Go(func() { infos[i], _ = p.describe(ctx, name) }) // if it fails, the model may chat
		}
	}
	requests.Wait()
	for i, name := range names {
		if !infos[i].NoChat && mayChat(name, p.Local) {
			all.Models = append(all.Models, OfferedModel{p.Name + ":" + name, infos[i]})
		}
	}
	return all
}

// mayChat says whether a model may chat, by its name: vendors list all that they sell.
func mayChat(name string, local bool) bool {
	no := []string{"embed"}
	if !local {
		no = append(no, "whisper", "tts", "dall-e", "image", "moderation", "realtime", "audio", "transcribe", "sora",
			"veo", "rerank")
	}
	name = strings.ToLower(name)
	return !slices.ContainsFunc(no, func(part string) bool { return strings.Contains(name, part) })
}
