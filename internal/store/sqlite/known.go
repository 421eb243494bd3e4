package sqlite

import "sibyl/internal/journal"

// known is what the writer has read or written, and so need not look for as long as no other connection writes.
type known struct {
	version uint32           // of the file after the last commit: it is another when somebody else has written
	running map[string]place // by the id of the run
	blobs   map[blobKey]int64
}

// place is where a running run stands.
type place struct {
	owner    journal.Owner
	no, next int64
}

// blobKey is whose blob of which content. The number of the blob is known by it, since comparing it is cheaper than hashing it.
type blobKey struct {
	owner journal.Owner
	bytes string
}

// What is known is little: runs that are driven here, and the tree, prompts and tools that they share.
const (
	mostRunning = 4096
	mostBlobs   = 32
	longestBlob = 64 << 10
)

func (k *known) forget() {
	k.running, k.blobs = make(map[string]place), make(map[blobKey]int64)
}

func (k *known) keepRunning(run string, p place) {
	if len(k.running) >= mostRunning {
		clear(k.running)
	}
	k.running[run] = p
}

func (k *known) keepBlob(owner journal.Owner, bytes []byte, no int64) {
	if len(k.blobs) >= mostBlobs {
		clear(k.blobs)
	}
	if len(bytes) <= longestBlob {
		k.blobs[blobKey{owner, string(bytes)}] = no
	}
}
