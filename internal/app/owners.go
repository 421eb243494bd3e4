package app

import (
	"sync"

	"sibyl/internal/journal"
)

// perOwner opens something once per owner, and caches it for some owners.
type perOwner[T any] struct {
	open func(owner journal.Owner) (*T, error)

	mu  sync.Mutex
	all map[journal.Owner]*T
}

// mostOwners limits for how many owners something remains open.
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

// each calls do with all that is cached.
func (p *perOwner[T]) each(do func(one *T)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.all {
		do(one)
	}
}
