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
	"sibyl/internal/tool"
)

// PushData is the Data of thread_push.
type PushData struct {
	Thread string    `json:"thread"`
	Path   string    `json:"path"`
	Entry  EntryInfo `json:"entry"`
}

// EntryInfo is an entry of a thread. Entries count from 1 in the order they were pushed.
type EntryInfo struct {
	Number int       `json:"number"`
	ID     string    `json:"id"`
	Time   time.Time `json:"time"` // UTC, whole seconds
	Title  string    `json:"title,omitempty"`
	Start  int       `json:"start"` // lines in the thread's file, the header included
	End    int       `json:"end"`
}

// ThreadInfo is a thread in a listing.
type ThreadInfo struct {
	Thread  string     `json:"thread"`
	Path    string     `json:"path"`
	Entries int        `json:"entries"`
	First   *EntryInfo `json:"first,omitempty"`
	Last    *EntryInfo `json:"last,omitempty"`
}

// ThreadsData is the Data of thread_list.
type ThreadsData struct {
	Threads []ThreadInfo `json:"threads"` // by name, at most 500
	Total   int          `json:"total"`
}

func (d *document) entryInfo(i int) EntryInfo { return infoOf(d.entries()[i], i) }

func infoOf(s section, i int) EntryInfo {
	return EntryInfo{Number: i + 1, ID: s.entry, Time: s.at, Title: oneLine(s.heading, 200), Start: s.start, End: s.end}
}

// entryIndex returns the place of the entry with this id; -1 if there is none.
func (d *document) entryIndex(id string) int {
	return slices.IndexFunc(d.entries(), func(s section) bool { return s.entry == id })
}

func (d *document) hasEntry(id string) bool { return d.entryIndex(id) >= 0 }

type pushArgs struct {
	Thread string `json:"thread" doc:"name of the thread"`
	Text   string `json:"text" doc:"Markdown text of the entry, at most 32 KiB"`
	Title  string `json:"title,omitempty" doc:"title of the entry, one line"`
}

func (v *Vault) pushTool() tool.Tool {
	return writer(v, tool.Spec{
		Name: "thread_push",
		Description: "Adds an entry to a thread, an append-only note such as a log of decisions; a thread that does not exist is begun. " +
			"Use it only when the person asks for something to be kept.",
	}, v.planPush)
}

func (v *Vault) planPush(key string, args pushArgs) (change, error) {
	if err := checkThread(args.Thread); err != nil {
		return change{}, err
	}
	if err := checkContent("text", args.Text, maxEntry); err != nil {
		return change{}, err
	}
	id, title, text := entryID(key), oneLine(args.Title, 200), cleanText(args.Text)
	return change{
		Mark:    id,
		Appends: true,
		Locate:  func() (string, error) { return v.threadPath(args.Thread) },
		Apply: func(p string, before files.File) ([]byte, tool.Result, error) {
			base := appendable(before.Content)
			if len(bytes.TrimSpace(base)) > 0 {
				base = append(base, inLineEndsOf(base, "\n")...)
			}
			after := append(base, inLineEndsOf(base, formatEntry(id, v.now(), title, text))...)
			res, err := pushed(p, after, id)
			return after, res, err
		},
		Trace: func(p string, now files.File) (tool.Result, bool) {
			if !parse(p, now.Content, now.Cut).hasEntry(id) {
				return tool.Result{}, false
			}
			res, err := pushed(p, now.Content, id)
			return res, err == nil
		},
	}, nil
}

// pushed is the result of the push that added entry id to the thread with content raw.
func pushed(p string, raw []byte, id string) (tool.Result, error) {
	d := parse(p, raw, false)
	i := d.entryIndex(id)
	if i < 0 {
		return tool.Result{}, fmt.Errorf("%s lacks its entry %s", p, id)
	}
	data := PushData{Thread: bare(p), Path: p, Entry: d.entryInfo(i)}
	ref := tool.Ref{Source: tool.Vault, Path: p, Title: d.title, Start: data.Entry.Start, End: data.Entry.End, Hash: files.Hash(raw)}
	text := fmt.Sprintf("Added entry %d to the thread %q: %s.\n", data.Entry.Number, data.Thread, ref)
	return answer(text, data, []tool.Ref{ref}, 1, false)
}

func checkThread(name string) error {
	if strings.Contains(name, "/") {
		return tool.Errorf(tool.InvalidArgs, "thread_list shows the names", "%q is not the name of a thread", name)
	}
	return checkPath(name + ".md")
}

// threadPath is the file of a thread: of the one that has this name in another spelling, if there is one.
func (v *Vault) threadPath(name string) (string, error) {
	present, err := v.present(".", threadDir)
	if err != nil {
		return "", err
	}
	if present != threadDir && present != "" {
		return "", tool.Errorf(tool.Conflict, "rename it", "%s stands where the folder %s belongs", present, threadDir)
	}
	file := name + ".md"
	if present, err = v.present(threadDir, file); err != nil {
		return "", err
	}
	if present == "" {
		return newNames(threadDir, []string{file})
	}
	return path.Join(threadDir, present), nil
}

type threadListArgs struct {
	Limit int `json:"limit,omitempty" doc:"threads to list" min:"1" max:"500" default:"100"`
}

func (v *Vault) threadListTool() tool.Tool {
	return reader(v, tool.Spec{
		Name:        "thread_list",
		Description: "Lists the threads of the vault with the number of their entries and the times of the first and the last.",
	}, v.listThreads)
}

func (v *Vault) listThreads(_ context.Context, s *snapshot, args threadListArgs) (tool.Result, error) {
	data := ThreadsData{Threads: []ThreadInfo{}}
	var refs []tool.Ref
	var b strings.Builder
	for _, n := range s.notes {
		if !isThread(n.path) {
			continue
		}
		if data.Total++; len(data.Threads) == args.Limit || b.Len() > tool.MaxText-2<<10 {
			continue
		}
		info := threadInfo(n)
		data.Threads = append(data.Threads, info)
		refs = append(refs, tool.Ref{Source: tool.Vault, Path: n.path, Title: n.title})
		fmt.Fprintf(&b, "- %s (%s", info.Thread, tool.Count(info.Entries, "entry"))
		if info.Last != nil {
			fmt.Fprintf(&b, ", the last of %s", info.Last.Time.Format(time.RFC3339))
		}
		fmt.Fprintf(&b, ")  %s\n", info.Path)
	}
	text := fmt.Sprintf("%s in the vault.\n%s", tool.Count(data.Total, "thread"), b.String())
	return answer(text, data, refs, len(data.Threads), len(data.Threads) < data.Total)
}

func threadInfo(n *note) ThreadInfo {
	info := ThreadInfo{Thread: bare(n.path), Path: n.path}
	for _, s := range n.sections {
		if s.entry == "" {
			continue
		}
		entry := infoOf(s, info.Entries)
		if info.Entries++; info.First == nil {
			info.First = &entry
		}
		info.Last = &entry
	}
	return info
}

// thread returns the note of a thread that is to be read.
func (s *snapshot) thread(name string) (*note, error) {
	if err := checkThread(name); err != nil {
		return nil, err
	}
	if n := s.byPath[path.Join(threadDir, name+".md")]; n != nil {
		return n, nil
	}
	for _, n := range s.notes {
		if isThread(n.path) && nameKey(bare(n.path)) == nameKey(name) {
			return n, nil
		}
	}
	return nil, tool.Errorf(tool.NotFound, "thread_list shows the names", "there is no thread %q", name)
}

const (
	entryMark   = "## "
	entryPrefix = "t-"
	entryDigits = 16
)

// entryID names the entry that the call with this key adds. It stands in the thread, so that the thread itself can tell
// whether the call took effect.
func entryID(key string) string {
	sum := sha256.Sum256([]byte("thread entry\x00" + key))
	return entryPrefix + hex.EncodeToString(sum[:])[:entryDigits]
}

// parseEntryHeader reads the line above an entry: "## 2025-10-05T14:30:22Z t-0123456789abcdef Title".
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
	return section{heading: strings.TrimSpace(title), level: 2, entry: id, at: at.UTC()}, true
}

// formatEntry is what a push adds to its thread: the header and the text, kept from looking like a header.
func formatEntry(id string, at time.Time, title, text string) string {
	header := entryMark + at.UTC().Format("2006-01-02T15:04:05Z") + " " + id
	if title != "" {
		header += " " + title
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if _, is := parseEntryHeader(strings.TrimLeft(line, `\`)); is {
			lines[i] = `\` + line
		}
	}
	return header + "\n\n" + strings.Join(lines, "\n") + "\n"
}

// entries are the sections of a thread that were pushed.
func (d *document) entries() []section {
	entries := d.sections
	if len(entries) > 0 && entries[0].entry == "" {
		entries = entries[1:]
	}
	return entries
}

// entryText is the text of an entry as it was pushed.
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

// cleanText is text with lines that end in \n, and no blank ones around it.
func cleanText(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	return strings.Join(trimBlank(strings.Split(text, "\n")), "\n")
}

func trimBlank(lines []string) []string {
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
