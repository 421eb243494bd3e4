package code

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"sibyl/internal/redact"
	"sibyl/internal/tool"
)

const (
	maxShown    = 400       // lines of one read
	aroundLines = 40        // lines shown on either side of the one asked for
	maxRead     = 256 << 20 // bytes of a file that is read at all: its hash needs all of it
	readChunk   = 64 << 10
	readReserve = 1 << 10 // bytes of tool.MaxText kept for what is said about the lines
)

// ReadArgs are the arguments of code_read.
type ReadArgs struct {
	Path   string `json:"path" doc:"the file, relative to the folder"`
	Start  int    `json:"start,omitempty" doc:"first line" min:"1"`
	End    int    `json:"end,omitempty" doc:"last line" min:"1"`
	Around int    `json:"around,omitempty" doc:"instead of start and end: this line with 40 lines on either side" min:"1"`
}

// ReadData is the structured result of code_read. Lines[0] is line Start.
type ReadData struct {
	Path  string   `json:"path"`
	Start int      `json:"start"`
	End   int      `json:"end"`
	Lines []string `json:"lines"`
	Total int      `json:"total"` // lines in the file
	Hash  string   `json:"hash"`  // of the whole file, as in tool.Ref
}

func (r *Root) readTool() tool.Tool {
	return tool.New(tool.Spec{
		Source: tool.Code, Effect: tool.Repeatable,
		Name: "code_read",
		Description: "Reads lines of one file, numbered, up to 400 at a time. Use it to open what code_search found: only what was " +
			"read can be cited.",
	}, r.read)
}

func (r *Root) read(ctx context.Context, _ tool.Call, args ReadArgs) (tool.Result, error) {
	w, err := newWindow(args)
	if err != nil {
		return tool.Result{}, err
	}
	clean, err := cleanPath(args.Path)
	if err != nil {
		return tool.Result{}, err
	}
	at, err := r.locate(clean)
	if err != nil {
		return tool.Result{}, err
	}
	defer at.close()
	if at.info.IsDir() {
		return tool.Result{}, tool.Errorf(tool.InvalidArgs, "name a file in it; repo_map shows what there is", "%s is a folder", clean)
	}
	if at.info.Size() > maxRead {
		return tool.Result{}, tool.Errorf(tool.TooLarge, "files of up to 256 MB are read", "%s has %d MB", clean, at.info.Size()>>20)
	}
	f, _, err := openRegular(at.parent, at.info.Name(), at.info)
	if err != nil {
		return tool.Result{}, ioError(clean, err)
	}
	defer func() { _ = f.Close() }() // opened for reading only
	if err := w.readFrom(ctx, f, clean); err != nil {
		return tool.Result{}, err
	}
	if asked := max(w.from, args.Around); asked > max(w.total, 1) {
		hint := fmt.Sprintf("the last line is %d", w.total)
		return tool.Result{}, tool.Errorf(tool.InvalidArgs, hint, "%s has no line %d", clean, asked)
	}
	return w.result(clean)
}

// newWindow turns the arguments into the lines wanted.
func newWindow(args ReadArgs) (*window, error) {
	const hint = "lines count from 1; give start and end, or around"
	switch {
	case args.Around > 0 && (args.Start > 0 || args.End > 0):
		return nil, tool.Errorf(tool.InvalidArgs, hint, "around cannot be combined with start or end")
	case args.End > 0 && args.End < args.Start:
		return nil, tool.Errorf(tool.InvalidArgs, hint, "the end, line %d, is before the start, line %d", args.End, args.Start)
	}
	w := &window{from: max(1, args.Start), asked: args.End}
	switch {
	case args.Around > 0:
		w.from, w.asked = max(1, args.Around-aroundLines), args.Around+aroundLines
	case args.End == 0:
		w.asked = math.MaxInt
	}
	w.to = min(w.asked, w.from+maxShown-1)
	return w, nil
}

// Secrets are taken out of lines as they stand in the file, before they are cut and numbered. One may begin before the lines that are wanted, and end
// behind them or behind what is shown of a line: so much more is kept than is shown.
const (
	around = 32 << 10 // bytes before the first line, and behind the last
	beyond = 4 << 10  // bytes of one line
)

// window keeps the wanted lines of a file that streams by with some around them, counts all lines and hashes all bytes.
type window struct {
	from, to int // what may be shown of it
	asked    int // the last line the caller wants, math.MaxInt for all

	lines []string // that are shown, from the first that was wanted
	total int
	hash  string

	lead    []byte     // the end of what stands before the wanted lines
	kept    []keptLine // the wanted lines
	tail    []byte     // the beginning of what stands behind them
	current []byte     // the beginning of the line that is being read
	skipped int        // bytes of it beyond those kept
}

// keptLine is the beginning of a line, and how many bytes of it are missing.
type keptLine struct {
	text string
	rest int
}

func (w *window) readFrom(ctx context.Context, src io.Reader, at string) error {
	sum := sha256.New()
	bounded := &io.LimitedReader{R: src, N: maxRead + 1}
	in := bufio.NewReaderSize(io.TeeReader(bounded, sum), readChunk)
	if head, _ := in.Peek(sniffed); isBinary(head) { // an error comes again with the next piece
		return tool.Errorf(tool.Failed, "only text can be read", "the file is binary")
	}
	for open, last := false, false; !last; {
		if err := ctx.Err(); err != nil {
			return err
		}
		piece, err := in.ReadSlice('\n')
		if last = errors.Is(err, io.EOF); !last && err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return ioError(at, err)
		}
		line, ended := bytes.CutSuffix(piece, []byte("\n"))
		w.keep(line)
		if open = !ended && (open || len(line) > 0); ended || open && last {
			w.endLine()
		}
	}
	if bounded.N <= 0 {
		return tool.Errorf(tool.TooLarge, "files of up to 256 MB are read", "the file grew while it was read")
	}
	w.hash = "sha256:" + hex.EncodeToString(sum.Sum(nil))
	w.show()
	return nil
}

// keep adds a piece to the current line, as far as it may matter.
func (w *window) keep(piece []byte) {
	switch line := w.total + 1; {
	case line < w.from:
		w.addLead(piece)
	case line > w.to:
		w.tail = append(w.tail, piece[:min(len(piece), around-len(w.tail))]...)
	default:
		room := min(maxLine+beyond-len(w.current), len(piece))
		w.current = append(w.current, piece[:room]...)
		w.skipped += len(piece) - room
	}
}

func (w *window) addLead(piece []byte) {
	if len(w.lead)+len(piece) > 2*around {
		w.lead = w.lead[:copy(w.lead, w.lead[max(0, len(w.lead)-around):])]
	}
	w.lead = append(w.lead, piece...)
}

func (w *window) endLine() {
	w.total++
	switch {
	case w.total < w.from:
		w.addLead([]byte{'\n'})
		return
	case w.total > w.to:
		w.tail = append(w.tail, "\n"[:min(1, around-len(w.tail))]...)
		return
	}
	w.kept = append(w.kept, keptLine{string(w.current), w.skipped})
	w.current, w.skipped = w.current[:0], 0
}

// show takes the secrets out of what was kept, and makes of it the lines that fit into a result.
func (w *window) show() {
	all := w.lead
	for _, line := range w.kept {
		all = append(append(all, line.text...), '\n')
	}
	clean := redact.Lines(append(all, w.tail...))
	for range bytes.Count(w.lead, []byte("\n")) {
		_, clean, _ = bytes.Cut(clean, []byte("\n"))
	}
	size := 0
	for _, line := range w.kept {
		var text []byte
		text, clean, _ = bytes.Cut(clean, []byte("\n"))
		shown := printableCut(string(text), maxLine, line.rest)
		if size += len(shown) + len("1234567| \n"); size > tool.MaxText-readReserve {
			return
		}
		w.lines = append(w.lines, shown)
	}
}

func (w *window) result(at string) (tool.Result, error) {
	data := ReadData{Path: at, Lines: []string{}, Total: w.total, Hash: w.hash}
	ref := tool.Ref{Source: tool.Code, Path: at, Hash: w.hash, Opened: true}
	if len(w.lines) == 0 {
		return tool.Result{Text: at + " is empty.\n", Refs: []tool.Ref{ref}, Items: 1}.WithData(data)
	}
	data.Start, data.End, data.Lines = w.from, w.from+len(w.lines)-1, w.lines
	ref.Start, ref.End = data.Start, data.End
	var b strings.Builder
	fmt.Fprintf(&b, "%s, lines %d-%d of %d\n", at, data.Start, data.End, data.Total)
	writeNumbered(&b, data.Start, data.Lines)
	if data.End < w.total {
		fmt.Fprintf(&b, "(%s more; go on with start %d)\n", tool.Count(w.total-data.End, "line"), data.End+1)
	}
	cut := data.End < min(w.asked, w.total)
	return tool.Result{Text: b.String(), Refs: []tool.Ref{ref}, Items: 1, Truncated: cut}.WithData(data)
}

func writeNumbered(b *strings.Builder, start int, lines []string) {
	width := max(4, len(fmt.Sprint(start+len(lines)-1)))
	for i, line := range lines {
		fmt.Fprintf(b, "%*d| %s\n", width, start+i, line)
	}
}
