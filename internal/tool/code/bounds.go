package code

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"sibyl/internal/tool"
)

// What a call looks at in a folder at most. What is beyond is left out, and said.
const (
	mostFiles = 200_000
	mostBytes = 1 << 30
	mostTime  = 12 * time.Second
)

// limits bound the walks of a root's calls; zero values stand for the usual ones.
type limits struct {
	files int64
	bytes int64
	time  time.Duration
}

// span is what a call has left.
type span struct {
	until        time.Time
	files, bytes atomic.Int64
	over         atomic.Bool // something was left out
}

type spanKey struct{}

// exceeds counts a file of a walk, and says that there is no room for it in the call that the context belongs to.
func exceeds(ctx context.Context, size int64) bool {
	s, ok := ctx.Value(spanKey{}).(*span)
	if !ok {
		return false
	}
	if s.files.Add(-1) < 0 || s.bytes.Add(-size) < 0 || time.Now().After(s.until) {
		s.over.Store(true)
	}
	return s.over.Load()
}

// noted has a tool say that its walk has left something out.
type noted struct {
	tool.Tool
	root *Root
}

// Call calls the tool.
func (n noted) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	l := n.root.limits
	files := cmp.Or(l.files, mostFiles)
	s := &span{until: time.Now().Add(cmp.Or(l.time, mostTime))}
	s.files.Store(files)
	s.bytes.Store(cmp.Or(l.bytes, mostBytes))
	res, err := n.Tool.Call(context.WithValue(ctx, spanKey{}, s), call)
	if err != nil || !s.over.Load() {
		return res, err
	}
	res.Beside = fmt.Sprintf("This folder is too large to be searched whole: %d files were looked at. Name the folder that you mean, as with --in.",
		files-max(0, s.files.Load()))
	res.Text += res.Beside + "\n"
	return res, nil
}
