package probe

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sibyl/internal/model"
)

// How much is sent to see whether a long request is read whole, in tokens by estimate: as much as takes longPart to
// read, and within these bounds.
const (
	leastLong = 1_000
	mostLong  = 6_000
	longPart  = 30 * time.Second
	hostedTop = 2_000 // of a model elsewhere, where it is paid for
)

// What is sent beyond the window: only to a model on the person's machines, where the refusal costs nothing, and only
// if it is not too large a request. A server refuses at once, or it reads.
const (
	mostBeyond = 64 << 10
	refusal    = 10 * time.Second
)

// list is a text of about so many tokens, with a code word in its first line. No two have the same front, as a server
// may remember it.
func list(tokens int) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "List of %s. Its code word is heron.\n", time.Now().Format(time.RFC3339Nano))
	for n := 1; b.Len() < tokens*4; n++ { // characters of a token, as everywhere
		fmt.Fprintf(b, "Shelf %d holds jars and boxes for the workshop.\n", n)
	}
	return b.String()
}

// tryWindow asks for a word at the beginning of a long request, and then sends one that is longer than the window.
func tryWindow(ctx context.Context, x *tester) (model.Finding, error) {
	size := mostLong
	if speed := x.times.readSpeed(); speed > 0 {
		size = min(mostLong, max(leastLong, int(speed*longPart.Seconds())))
	}
	if !x.m.Local() {
		size = min(size, hostedTop)
	}
	if x.Info.Window > 0 {
		size = min(size, x.Info.Window/2) // the estimate may be wrong by as much
	}
	req := said("Answer with one word.", user(list(size)+"\nWhich code word does the first line name?"))
	r, err := x.ask(ctx, req)
	if err != nil {
		return model.Finding{}, err
	}
	read := r.InputTokens
	switch {
	case read > 0 && read < size/2:
		return wrong("only %d of about %d tokens were read", read, size), nil
	case !r.has("heron"):
		return wrong("does not find the first line of %d tokens: %s", max(read, size), r.brief()), nil
	}
	x.times.window = max(read, size)
	f := right("")
	f.Reason = fmt.Sprintf("reads %d tokens whole", x.times.window)
	if x.m.Local() && x.Info.Window > 0 && x.Info.Window <= mostBeyond {
		f.Reason += x.beyond(ctx)
	}
	return f, nil
}

// beyond says what happens to a request that is longer than the window.
func (x *tester) beyond(ctx context.Context) string {
	limited, end := context.WithTimeout(ctx, refusal)
	defer end()
	more := x.Info.Window + x.Info.Window/2
	_, err := x.ask(limited, said("Answer with one word.", user(list(more))))
	switch {
	case err != nil && model.KindOf(err) == model.ContextLength:
		return fmt.Sprintf("; refuses what is longer than %d", x.Info.Window)
	case err == nil:
		return fmt.Sprintf("; takes more than %d, and may lose the beginning of it", x.Info.Window)
	}
	return ""
}
