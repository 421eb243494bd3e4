package code

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strings"

	"sibyl/internal/redact"
	"sibyl/internal/tool"
)

const (
	maxShown    = 400      // lines of one read
	aroundLines = 40       // lines shown on either side of the one asked for
	maxRead     = 64 << 20 // bytes of a file
	readReserve = 1 << 10  // bytes of tool.MaxText reserved for what is written around the lines
)

// ReadArgs are the arguments of code_read.
type ReadArgs struct {
	Path   string `json:"path"`
	Start  int    `json:"start,omitempty" min:"1"`
	End    int    `json:"end,omitempty" min:"1"`
	Around int    `json:"around,omitempty" doc:"a line with 40 on either side" min:"1"`
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
		Name:        "code_read",
		Description: "Reads lines of one file, up to 400 at a time. Only what was read can be cited.",
	}, r.read)
}

func (r *Root) read(_ context.Context, _ tool.Call, args ReadArgs) (tool.Result, error) {
	from, to, err := args.wantedLines()
	if err != nil {
		return tool.Result{}, err
	}
	clean, err := cleanPath(args.Path)
	if err != nil {
		return tool.Result{}, err
	}
	text, hash, err := r.content(clean)
	if err != nil {
		return tool.Result{}, err
	}
	s := newSource(clean, text)
	data := ReadData{Path: clean, Lines: []string{}, Total: len(s.lines), Hash: hash}
	if wanted := max(from, args.Around); wanted > max(data.Total, 1) {
		hint := fmt.Sprintf("the last line is %d", data.Total)
		return tool.Result{}, tool.Errorf(tool.InvalidArgs, hint, "%s has no line %d", clean, wanted)
	}
	ref := tool.Ref{Source: tool.Code, Path: clean, Hash: data.Hash, Opened: true}
	if data.Total == 0 {
		return tool.Result{Text: clean + " is empty.\n", Refs: []tool.Ref{ref}, Items: 1}.WithData(data)
	}
	to = min(to, data.Total)
	data.Lines = s.linesToShow(from, min(to, from+maxShown-1))
	data.Start, data.End = from, from+len(data.Lines)-1
	ref.Start, ref.End = data.Start, data.End
	var b strings.Builder
	fmt.Fprintf(&b, "%s, lines %d-%d of %d\n", clean, data.Start, data.End, data.Total)
	writeNumbered(&b, data.Start, data.Lines)
	if data.End < data.Total {
		fmt.Fprintf(&b, "(%s more; go on with start %d)\n", tool.Count(data.Total-data.End, "line"), data.End+1)
	}
	return tool.Result{Text: b.String(), Refs: []tool.Ref{ref}, Items: 1, Truncated: data.End < to}.WithData(data)
}

// wantedLines returns the first and the last line that the arguments ask for; `to` may be beyond the file's end.
func (args ReadArgs) wantedLines() (from, to int, err error) {
	const hint = "lines count from 1; give start and end, or around"
	switch {
	case args.Around > 0 && (args.Start > 0 || args.End > 0):
		return 0, 0, tool.Errorf(tool.InvalidArgs, hint, "around cannot be combined with start or end")
	case args.End > 0 && args.End < args.Start:
		return 0, 0, tool.Errorf(tool.InvalidArgs, hint, "the end, line %d, is before the start, line %d",
			args.End, args.Start)
	case args.Around > 0:
		return max(1, args.Around-aroundLines), args.Around + aroundLines, nil
	case args.End == 0:
		return max(1, args.Start), math.MaxInt, nil
	}
	return max(1, args.Start), args.End, nil
}

// Secrets are removed from the lines of the file before these are cut and numbered. A secret may begin before the
// wanted lines, and end after them or after the shown part of a line: so redaction gets this much more than is shown.
const (
	bytesAround     = 32 << 10 // bytes before the first line, and behind the last
	lineBytesBeyond = 4 << 10  // bytes of one line
)

// linesToShow returns lines without their secrets, as many as fit into a result.
func (s *source) linesToShow(from, to int) (lines []string) {
	start, end := s.lines[from-1], len(s.text)
	if to < len(s.lines) {
		end = s.lines[to]
	}
	lead := s.text[max(0, start-bytesAround):start]
	part, rest := bytes.Clone(lead), make([]int, 0, to-from+1)
	for n := from; n <= to; n++ {
		line := s.line(n)
		kept := line[:min(len(line), maxLine+lineBytesBeyond)]
		part = append(append(part, kept...), '\n')
		rest = append(rest, len(line)-len(kept))
	}
	part = append(part, s.text[end:min(len(s.text), end+bytesAround)]...)
	clean := bytes.Split(redact.Lines(part), []byte("\n"))[bytes.Count(lead, []byte("\n")):]
	size := 0
	for i, more := range rest {
		line := printableCut(string(clean[i]), maxLine, more)
		if size += len(line) + len("1234567| \n"); size > tool.MaxText-readReserve {
			break
		}
		lines = append(lines, line)
	}
	return lines
}

func writeNumbered(b *strings.Builder, start int, lines []string) {
	width := max(4, len(fmt.Sprint(start+len(lines)-1)))
	for i, line := range lines {
		fmt.Fprintf(b, "%*d| %s\n", width, start+i, line)
	}
}
