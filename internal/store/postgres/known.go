package postgres

import (
	"sync"

	"sibyl/internal/journal"
)

// known are contents that the database had, so that they need not be hashed and sent again. Where it has one no more, it says so, and gets it.
type known struct {
	mu     sync.Mutex
	hashes map[blobKey]string
}

// blobKey is whose blob of which content. Its hash is known by it, since comparing it is cheaper than hashing it.
type blobKey struct {
	owner journal.Owner
	bytes string
}

// What is known is little: the tree, prompts and tools that runs share.
const (
	mostBlobs   = 32
	longestBlob = 64 << 10
)

// hash returns the hash of a content, and whether the database had it.
func (k *known) hash(owner journal.Owner, bytes []byte) (hash string, had bool) {
	k.mu.Lock()
	hash, had = k.hashes[blobKey{owner, string(bytes)}]
	k.mu.Unlock()
	if !had {
		hash = journal.BlobHash(bytes)
	}
	return hash, had
}

func (k *known) keep(owner journal.Owner, bytes []byte, hash string) {
	if len(bytes) > longestBlob {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.hashes) >= mostBlobs || k.hashes == nil {
		k.hashes = make(map[blobKey]string)
	}
	k.hashes[blobKey{owner, string(bytes)}] = hash
}
