package document

import (
	"slices"
	"sync"
)

// maxCached bounds the texts of PDFs and DOCX that a Reader keeps, in bytes.
const maxCached = 64 << 20

// documentCache holds the documents that were read last, so that the same content is not read again.
type documentCache struct {
	mu    sync.Mutex
	docs  []Document // the one that was used last is the last
	bytes int64
}

// fill sets the pages of d if a document with the same content is cached, and says whether one is.
func (k *documentCache) fill(d *Document) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	at := slices.IndexFunc(k.docs, func(known Document) bool { return known.Hash == d.Hash })
	if at < 0 {
		return false
	}
	known := k.docs[at]
	k.docs = append(slices.Delete(k.docs, at, at+1), known)
	d.Pages, d.Paged, d.Blank = known.Pages, known.Paged, known.Blank
	return true
}

func (k *documentCache) add(d Document) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.docs, k.bytes = append(k.docs, d), k.bytes+d.size()
	for k.bytes > maxCached {
		k.bytes -= k.docs[0].size()
		k.docs = slices.Delete(k.docs, 0, 1)
	}
}
