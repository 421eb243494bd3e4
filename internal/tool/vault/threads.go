package vault

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"sibyl/internal/files"
	"sibyl/internal/text"
	"sibyl/internal/text/markdown"
	"sibyl/internal/tool"
)

type pushArgs struct {
	Thread string `json:"thread"`
	Text   string `json:"text"`
	Title  string `json:"title,omitempty"`
}

func (v *Vault) pushTool() tool.Tool {
	return newWriteTool(v, tool.Spec{
		Name:        "thread_push",
		Description: "Adds an entry to a thread, an append-only log, which may be new. Only when the user asks for it.",
	}, v.planPush)
}

func (v *Vault) planPush(key string, args pushArgs) (change, error) {
	if err := checkThread(args.Thread); err != nil {
		return change{}, err
	}
	if err := checkContent("text", args.Text, maxEntry); err != nil {
		return change{}, err
	}
	id, title, body := entryID(key), text.Brief(args.Title, 200), cleanText(args.Text)
	return change{
		Mark:    id,
		Appends: true,
		Locate:  func() (string, error) { return v.threadPath(args.Thread) },
		Apply: func(p string, before files.File) ([]byte, tool.Result, error) {
			base := appendable(before.Content)
			if len(bytes.TrimSpace(base)) > 0 {
				base = append(base, inLineEndsOf(base, "\n")...)
			}
			after := append(base, inLineEndsOf(base, formatEntry(id, v.now(), title, markdown.InertBehind(string(base),
				body)))...)
			d := parseNote(p, after, false)
			entry := d.sections[len(d.sections)-1]
			ref := tool.Ref{Source: tool.Vault, Path: p, Title: d.title, Start: entry.start, End: entry.end}
			ref.Hash = files.Hash(after)
			done := fmt.Sprintf("Added entry %d to the thread %q: %s.\n", entry.entry, noteName(p), ref)
			res, err := newResult(done, nil, []tool.Ref{ref}, false)
			return after, res, err
		},
	}, nil
}

func checkThread(name string) error {
	if strings.Contains(name, "/") {
		return tool.Errorf(tool.InvalidArgs, "thread_list shows the names", "%q is not the name of a thread", name)
	}
	return checkPath(name + ".md")
}

// threadPath returns the file of a thread; if the thread exists in another spelling, that one.
func (v *Vault) threadPath(name string) (string, error) {
	present, err := v.presentName(".", threadDir)
	if err != nil {
		return "", err
	}
	if present != threadDir && present != "" {
		return "", tool.Errorf(tool.Conflict, "rename it", "%s stands where the folder %s belongs", present, threadDir)
	}
	file := name + ".md"
	if present, err = v.presentName(threadDir, file); err != nil {
		return "", err
	}
	if present == "" {
		return newNotePath(threadDir, []string{file})
	}
	return path.Join(threadDir, present), nil
}

type threadListArgs struct {
	Limit int `json:"limit,omitempty" min:"1" max:"500" default:"100"`
}

func (v *Vault) threadListTool() tool.Tool {
	return newReadTool(v.lookAtThreads, tool.Spec{
		Name:        "thread_list",
		Description: "Lists the threads with their number of entries.",
	}, v.listThreads)
}

func (v *Vault) listThreads(ctx context.Context, s *snapshot, args threadListArgs) (tool.Result, error) {
	var refs []tool.Ref
	var b strings.Builder
	total := 0
	err := v.eachNote(ctx, s.places, func(n *note) {
		if total++; len(refs) == args.Limit || b.Len() > tool.MaxText-2<<10 {
			return
		}
		refs = append(refs, tool.Ref{Source: tool.Vault, Path: n.path, Title: n.title})
		entries := entriesOf(n.sections)
		fmt.Fprintf(&b, "- %s (%s", noteName(n.path), tool.Count(len(entries), "entry"))
		if len(entries) > 0 {
			fmt.Fprintf(&b, ", the last of %s", entries[len(entries)-1].at.Format(time.RFC3339))
		}
		fmt.Fprintf(&b, ")  %s\n", n.path)
	})
	if err != nil {
		return tool.Result{}, err
	}
	head := fmt.Sprintf("%s in the vault.\n", tool.Count(total, "thread"))
	return newResult(head+b.String(), nil, refs, len(refs) < total)
}

type threadReadArgs struct {
	Thread string `json:"thread"`
	From   int    `json:"from,omitempty" doc:"from 1; -5: the fifth from the end"`
	Limit  int    `json:"limit,omitempty" min:"1" max:"100" default:"20"`
}

func (v *Vault) threadReadTool() tool.Tool {
	return newReadTool(v.lookAtThreads, tool.Spec{
		Name:        "thread_read",
		Description: "Reads entries of a thread in their order, with lines to cite.",
	}, v.readThread)
}

func (v *Vault) readThread(_ context.Context, s *snapshot, args threadReadArgs) (tool.Result, error) {
	p, err := s.threadPath(args.Thread)
	if err != nil {
		return tool.Result{}, err
	}
	content, err := v.readFile(p)
	if err != nil {
		return tool.Result{}, err
	}
	d := parseNote(p, content.Content, content.Cut)
	entries := entriesOf(d.sections)
	from := max(0, args.From-1)
	if args.From < 0 {
		from = max(0, len(entries)+args.From)
	}
	count := tool.Count(len(entries), "entry")
	if from > 0 && from >= len(entries) {
		return tool.Result{}, tool.Errorf(tool.InvalidArgs, "", "the thread %q has %s, and no number %d",
			noteName(p), count, args.From)
	}
	const room = tool.MaxText - 4<<10
	var b strings.Builder
	fmt.Fprintf(&b, "Thread %q, %s.\n", noteName(p), count)
	if len(d.warnings) > 0 {
		fmt.Fprintf(&b, "Warning: %s\n", strings.Join(d.warnings, "; "))
	}
	var refs []tool.Ref
	cut := content.Cut
	for _, e := range entries[from:min(len(entries), from+args.Limit)] {
		entry := d.entryText(e)
		if left := room - b.Len(); len(entry)+300 > left {
			if len(refs) > 0 {
				break
			}
			entry = tool.Clip(entry, left-300) + "…" // a person wrote more than a push may
			cut = true
		}
		ref := tool.Ref{Source: tool.Vault, Path: d.path, Title: d.title, Start: e.start, End: e.end, Opened: true}
		if !content.Cut {
			ref.Hash = files.Hash(content.Content)
		}
		refs = append(refs, ref)
		fmt.Fprintf(&b, "\n%d. %s  %s", e.entry, e.at.Format(time.RFC3339), ref)
		if e.heading != "" {
			fmt.Fprintf(&b, "  %s", text.Brief(e.heading, 200))
		}
		fmt.Fprintf(&b, "\n%s\n", entry)
	}
	last := from + len(refs)
	if last < len(entries) {
		fmt.Fprintf(&b, "\n%d more; go on with from %d.\n", len(entries)-last, last+1)
	}
	return newResult(b.String(), nil, refs, cut || last < len(entries))
}

// threadPath returns the path of a thread to be read.
func (s *snapshot) threadPath(name string) (string, error) {
	if err := checkThread(name); err != nil {
		return "", err
	}
	p := path.Join(threadDir, name+".md")
	if s.has(p) {
		return p, nil
	}
	if places := atPath(s.places, p); len(places) > 0 {
		return places[0].path, nil
	}
	return "", tool.Errorf(tool.NotFound, "thread_list shows the names", "there is no thread %q", name)
}

const (
	entryMark   = "## "
	entryPrefix = "t-"
	entryDigits = 16
)

// entryID returns the id of the entry that the call with this key adds. It is written to the thread, which so shows
// whether the call took effect.
func entryID(key string) string {
	sum := sha256.Sum256([]byte("thread entry\x00" + key))
	return entryPrefix + hex.EncodeToString(sum[:])[:entryDigits]
}

// parseEntryHeader parses the line above an entry: "## 2025-10-05T14:30:22Z t-0123456789abcdef Title".
func parseEntryHeader(line string) (section, bool) {
	rest, found := strings.CutPrefix(line, entryMark)
	if !found {
		return section{}, false
	}
	stamp, rest, _ := strings.Cut(rest, " ")
	at, err := time.Parse(time.RFC3339, stamp)
	id, title, _ := strings.Cut(rest, " ")
	digits, found := strings.CutPrefix(id, entryPrefix)
	if err != nil || !found || len(digits) != entryDigits || strings.Trim(digits, "0123456789abcdef") != "" {
		return section{}, false
	}
	return section{heading: strings.TrimSpace(title), level: 2, id: id, at: at.UTC()}, true
}

// formatEntry returns what a push adds to its thread: the header and the text, with lines like a header escaped.
func formatEntry(id string, at time.Time, title, body string) string {
	header := entryMark + at.UTC().Format("2006-01-02T15:04:05Z") + " " + id
	if title != "" {
		header += " " + title
	}
	lines := strings.Split(body, "\n")
	for i, line := range lines {
		if _, is := parseEntryHeader(strings.TrimLeft(line, `\`)); is {
			lines[i] = `\` + line
		}
	}
	return header + "\n\n" + strings.Join(lines, "\n") + "\n"
}

// entriesOf returns the sections of a thread that are entries.
func entriesOf(sections []section) []section {
	if len(sections) > 0 && sections[0].entry == 0 {
		return sections[1:]
	}
	return sections
}

// entryText returns the text of an entry as it was pushed.
func (d *document) entryText(s section) string {
	var lines []string
	for _, line := range d.lines[s.start:s.end] {
		if bare := strings.TrimLeft(line, `\`); len(bare) < len(line) {
			if _, is := parseEntryHeader(bare); is {
				line = line[1:]
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(trimBlank(lines), "\n")
}

// cleanText returns a text with lines that end in \n, without blank lines around it.
func cleanText(s string) string {
	return strings.Join(trimBlank(strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s), "\n")), "\n")
}

func trimBlank(lines []string) []string {
	isText := func(line string) bool { return strings.TrimSpace(line) != "" }
	first := slices.IndexFunc(lines, isText)
	if first < 0 {
		return nil
	}
	last := len(lines) - 1
	for !isText(lines[last]) {
		last--
	}
	return lines[first : last+1]
}
