package redact

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
)

// clean remembers texts that hold no secret, since prompts come again with every run. A text is known by a hash of 64 bits, which nobody can foresee;
// a later text may take its place.
type clean [256]atomic.Uint64

// A text of fewer bytes is as soon read; a longer one does not come again.
const leastKnown, mostKnown = 256, 64 << 10

var seed = sync.OnceValue(maphash.MakeSeed)

// hash is what b is known by, or 0 where it is not to be remembered.
func hash(b []byte) uint64 {
	if len(b) < leastKnown || len(b) > mostKnown {
		return 0
	}
	return maphash.Bytes(seed(), b)
}

func (c *clean) has(hash uint64) bool { return hash != 0 && c[hash%uint64(len(c))].Load() == hash }

func (c *clean) add(hash uint64) {
	if hash != 0 {
		c[hash%uint64(len(c))].Store(hash)
	}
}
