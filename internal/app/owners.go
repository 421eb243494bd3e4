package app

import (
	"sync"

	"sibyl/internal/journal"
)

// perOwner opens something of an owner once, and keeps it for some of them.
type perOwner[T any] struct {
	open func(owner journal.Owner) (*T, error)

	mu  sync.Mutex
	all map[journal.Owner]*T
}

// mostOwners bounds for how many owners something stays open.
const mostOwners = 256

func (p *perOwner[T]) get(owner journal.Owner) (*T, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if one := p.all[owner]; one != nil {
		return one, nil
	}
	one, err := p.open(owner)
	if err != nil {
		return nil, err
	}
	if p.all == nil || len(p.all) >= mostOwners {
		p.all = map[journal.Owner]*T{}
	}
	p.all[owner] = one
	return one, nil
}
