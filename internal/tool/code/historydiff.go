package code

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"sibyl/internal/redact"
	"sibyl/internal/tool"
)

// diff lists the files that changed, and shows the patches of those that may be read.
func (h *past) diff(ctx context.Context) error {
	listed := append([]string{"diff"}, comparing("--name-status", "-z", "--end-of-options", "HEAD", "--", h.path)...)
	shown := append([]string{"diff"}, comparing("--src-prefix=a/", "--dst-prefix=b/", "--end-of-options", "HEAD", "--")...)
	if h.commit != "" {
		listed = append([]string{"show", commitFields}, telling("--name-status", "-z", "--end-of-options", h.commit, "--", h.path)...)
		shown = append([]string{"show", "--format="}, telling("--src-prefix=a/", "--dst-prefix=b/", "--end-of-options", h.commit, "--")...)
		if err := h.tell(ctx); err != nil {
			return err
		}
	}
	out, cut, err := h.git(ctx, listed...)
	if err != nil {
		if _, none := h.repository.commit(ctx, "HEAD"); none != nil {
			return notRepository("nothing is committed yet")
		}
		return err
	}
	if h.commit != "" {
		_, rest, _ := strings.Cut(string(out), "\x00") // the fields of the commit end with one more
		for range 5 {
			_, rest, _ = strings.Cut(rest, "\x00")
		}
		out = []byte(strings.TrimLeft(rest, "\n\x00"))
	}
	h.cut = cut
	h.changed(string(out))
	if h.commit != "" && len(h.data.Changes)+len(h.secret) == 0 && !cut && h.root != h.top {
		return tool.Errorf(tool.NotFound, "log lists the commits that changed something here", "the commit changed nothing in this folder")
	}
	if h.commit == "" {
		if err := h.untracked(ctx); err != nil {
			return err
		}
	}
	return h.patches(ctx, shown)
}

// tell reads what the commit says of itself.
func (h *past) tell(ctx context.Context) error {
	out, _, err := h.git(ctx, append([]string{"show", "-s", commitFields}, telling("--end-of-options", h.commit)...)...)
	if err == nil {
		h.data.Commits = h.commits(out, false)
	}
	return err
}

// changed reads what --name-status -z prints.
func (h *past) changed(out string) {
	fields := strings.Split(out, "\x00")
	for i := 0; i+1 < len(fields); {
		n := 1
		if strings.HasPrefix(fields[i], "R") || strings.HasPrefix(fields[i], "C") {
			n = 2
		}
		if i+n >= len(fields) {
			return
		}
		h.data.Changes = h.add(h.data.Changes, fields[i], fields[i+1:i+1+n])
		i += n + 1
	}
}

// untracked lists the files that git does not know yet.
func (h *past) untracked(ctx context.Context) error {
	out, cut, err := h.git(ctx, "ls-files", "--others", "--exclude-standard", "-z", "--", h.path)
	h.cut = h.cut || cut
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name != "" {
			h.data.Changes = h.add(h.data.Changes, "?", []string{name})
		}
	}
	return err
}

// patches adds the lines of the diff to the first files.
func (h *past) patches(ctx context.Context, show []string) error {
	var names []string
	at := map[string]*Change{}
	for i := range h.data.Changes {
		c := &h.data.Changes[i]
		if c.Status == "untracked" {
			continue
		}
		if len(at) == maxPatched {
			h.cut = true
			break
		}
		at[c.Path] = c
		names = append(names, c.Path)
		if c.From != "" {
			names = append(names, c.From)
		}
	}
	if len(names) == 0 {
		return nil
	}
	out, cut, err := h.git(ctx, append(show, names...)...)
	if err != nil {
		return err
	}
	h.cut = h.cut || cut
	var c *Change
	within := hunk{}
	for line := range strings.Lines(string(redact.Lines(out))) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case within.takes(line):
			c.Patch = append(c.Patch, printable(line, maxLine))
		case strings.HasPrefix(line, "diff --git "):
			c = nil
		case strings.HasPrefix(line, "--- a/") && c == nil: // of a deleted file, the line after it names none
			c = at[strings.TrimSuffix(strings.TrimPrefix(line, "--- a/"), "\t")]
		case strings.HasPrefix(line, "+++ b/"):
			c = at[strings.TrimSuffix(strings.TrimPrefix(line, "+++ b/"), "\t")]
		case strings.HasPrefix(line, "@@ ") && c != nil:
			c.Patch = append(c.Patch, printable(line, maxLine))
			within = newHunk(line)
		}
	}
	return nil
}

// hunk counts the lines of a hunk of a diff that are still to come: no line of a file is taken for a header.
type hunk struct{ old, new int }

// newHunk reads “@@ -a,b +c,d @@”.
func newHunk(header string) (h hunk) {
	_, h.old = hunkSpan(header, '-')
	_, h.new = hunkSpan(header, '+')
	return h
}

// hunkSpan is where one side of a hunk begins, and how many lines it has.
func hunkSpan(header string, side byte) (start, lines int) {
	for _, f := range strings.Fields(header)[1:] {
		if f[0] != side {
			continue
		}
		first, count, ranged := strings.Cut(f[1:], ",")
		start, _ = strconv.Atoi(first)
		if lines = 1; ranged {
			lines, _ = strconv.Atoi(count)
		}
		return start, lines
	}
	return 0, 0
}

func (h *hunk) takes(line string) bool {
	if h.old <= 0 && h.new <= 0 {
		return false
	}
	switch {
	case strings.HasPrefix(line, "-"):
		h.old--
	case strings.HasPrefix(line, "+"):
		h.new--
	case strings.HasPrefix(line, `\`):
	default:
		h.old--
		h.new--
	}
	return true
}

// blame says of lines of a file who changed each last.
func (h *past) blame(ctx context.Context) error {
	start := max(h.args.Start, 1)
	end := h.args.End
	if end == 0 && h.args.Start > 0 {
		end = start
	}
	if end == 0 || end-start >= maxBlamed {
		end = start + maxBlamed - 1
	}
	args := []string{"blame", "--line-porcelain", "--no-textconv", "--no-ext-diff", "--encoding=UTF-8", fmt.Sprintf("-L%d,%d", start, end)}
	if h.commit != "" {
		args = append(args, h.commit)
	}
	out, cut, err := h.git(ctx, append(args, "--", h.path)...)
	if err != nil {
		return err
	}
	h.data.Path = h.path
	h.cut = cut
	h.blamed(string(redact.Lines(out)))
	if len(h.data.Lines) == maxBlamed && (h.args.End == 0 || h.args.End > end) {
		h.cut = true
	}
	if len(h.data.Lines) == 0 {
		return tool.Errorf(tool.NotFound, "see with code_read which lines there are", "%s has no such lines", h.path)
	}
	return nil
}

// blamed reads what --line-porcelain prints.
func (h *past) blamed(out string) {
	var b Blamed
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		if text, ok := strings.CutPrefix(line, "\t"); ok {
			b.Text = printable(text, maxLine)
			h.data.Lines = append(h.data.Lines, b)
			b = Blamed{}
			continue
		}
		key, value, _ := strings.Cut(line, " ")
		switch {
		case b.Line == 0:
			if b.Hash = key[:min(shortHash, len(key))]; strings.Trim(b.Hash, "0") == "" {
				b.Hash = ""
			}
			if f := strings.Fields(value); len(f) > 1 {
				b.Line, _ = strconv.Atoi(f[1])
			}
		case b.Hash == "":
		case key == "author":
			b.Author = printable(value, maxShort)
		case key == "author-time":
			b.Date = day(value)
		case key == "summary":
			b.Subject = printable(value, maxShort)
		}
	}
}
