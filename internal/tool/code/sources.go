package code

import (
	"hash/maphash"
	"sync"

	"sibyl/internal/text/search"
)

// mostSources is how many bytes of files a process keeps for the next search.
const mostSources = 32 << 20

// mostOutlines is of how many files that the index may not hold, or does not yet, a process keeps the outline.
const mostOutlines = 100

// sources are files that were shown or nearly so, as they were read. They are looked at again before they are used, but need not be read and cut into lines. It is
// safe for concurrent use; what it gives never changes.
type sources struct {
	mu    sync.Mutex
	kept  map[string]keptSource // by path
	bytes int

	outlines map[keptOutline][]definition // of files that were read anew, as long as the same is in them
}

var outlineSeed = sync.OnceValue(maphash.MakeSeed)

type keptOutline struct {
	path string
	sum  uint64 // of the content
}

type keptSource struct {
	src   *source
	stamp uint64
}

// get gives a file as it was when it had a stamp; nil if it is not there.
func (c *sources) get(at string, stamp uint64) *source {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.kept[at]; k.stamp == stamp {
		return k.src
	}
	return nil
}

func (c *sources) put(src *source, stamp uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	size := len(src.text)
	if before, is := c.kept[src.path]; is {
		c.bytes -= len(before.src.text)
	}
	if c.kept == nil || c.bytes+size > mostSources {
		c.kept, c.bytes = map[string]keptSource{}, 0
	}
	c.kept[src.path] = keptSource{src, stamp}
	c.bytes += size
}

// outline is outline of a file whose content was read anew.
func (c *sources) outline(src *source) []definition {
	of := keptOutline{src.path, maphash.Bytes(outlineSeed(), src.text)}
	c.mu.Lock()
	defs, known := c.outlines[of]
	c.mu.Unlock()
	if known {
		return defs
	}
	defs = append([]definition{}, outline(src)...) // never nil
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.outlines == nil || len(c.outlines) == mostOutlines {
		c.outlines = map[keptOutline][]definition{}
	}
	c.outlines[of] = defs
	return defs
}

// open reads one of the best files again, or recalls it.
func (s *lookup) open(file *tally) (*source, error) {
	if p := file.place; p != nil {
		if src := s.recall(p); src != nil {
			return src, nil
		}
	}
	content, err := s.root.content(file.path)
	if err != nil {
		return nil, err
	}
	src := newSource(file.path, content)
	if x := s.root.indexed; x != nil {
		src.known = x.sources.outline(src)
	}
	return src, nil
}

// recall gives a file that the index holds, if it is still as it was seen; else nil.
func (s *lookup) recall(p *heldFile) *source {
	kept, stamp := &s.root.indexed.sources, p.known.stamp
	src := kept.get(p.path, stamp)
	if src != nil {
		if info, err := s.root.root.Lstat(p.path); err != nil || stampOf(info) != stamp {
			return nil
		}
	} else {
		buf := make([]byte, p.info.Size()+search.Padding)
		content, err := readHeld(s.root, p.path, p.info, stamp, &buf)
		if err != nil {
			return nil
		}
		src = newSource(p.path, content) // no secret is in what the index holds
	}
	if src.known == nil {
		mine := *src
		mine.known, mine.rank = s.outlines[p], rankOfContent(src.text)
		src = &mine
		kept.put(src, stamp)
	}
	mine := *src
	return &mine
}
