package code

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"sibyl/internal/tool"
)

// day is the date of a time in seconds, in UTC.
func day(seconds string) string {
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return ""
	}
	return time.Unix(n, 0).UTC().Format(time.DateOnly)
}

// result is what was found, for models and for rules. What was shown can be cited: commits by their hash, lines by their file.
func (h *past) result() (tool.Result, error) {
	h.data.Secret = len(h.secret)
	res := tool.Result{Truncated: h.cut}
	var b strings.Builder
	switch h.data.What {
	case "diff":
		res.Items = len(h.data.Changes)
	case "blame":
		res.Items = len(h.data.Lines)
	default:
		res.Items = len(h.data.Commits)
	}
	for _, c := range h.data.Commits {
		writeCommit(&b, c)
		res.Refs = append(res.Refs, tool.Ref{Source: tool.Code, Path: c.Cite(), Title: c.Subject, Opened: true})
	}
	for i := range h.data.Changes {
		c := &h.data.Changes[i]
		fmt.Fprintf(&b, "%s\n", c.line())
		if b.Len() > tool.MaxText-readReserve {
			res.Truncated, c.Patch = true, nil
			continue
		}
		for n, line := range c.Patch {
			if b.Len()+len(line) > tool.MaxText-readReserve {
				res.Truncated, c.Patch = true, c.Patch[:n]
				break
			}
			b.WriteString(line + "\n")
		}
		if h.commit == "" {
			res.Refs = append(res.Refs, c.refs()...)
		}
	}
	h.writeLines(&b, &res)
	switch {
	case res.Items == 0 && h.data.What == "diff" && h.commit == "":
		b.WriteString("Nothing is changed since the last commit.\n")
	case res.Items == 0:
		b.WriteString("No commit changed that.\n")
	case res.Truncated:
		b.WriteString("(there is more: name a file with path, or give limit)\n")
	}
	if h.data.Secret > 0 {
		fmt.Fprintf(&b, "Left out: %s that may hold secrets.\n", tool.Count(h.data.Secret, "changed file"))
	}
	res.Text = b.String()
	return res.WithData(h.data)
}

func writeCommit(b *strings.Builder, c Commit) {
	fmt.Fprintf(b, "%s  %s  %s: %s\n", c.Cite(), c.Date, c.Author, c.Subject)
	for line := range strings.Lines(c.Body) {
		b.WriteString("    " + line)
	}
	if c.Body != "" {
		b.WriteString("\n")
	}
	for _, change := range c.Changes {
		b.WriteString("    " + change.line() + "\n")
	}
}

func (c Change) line() string {
	if c.From != "" && c.From != c.Path {
		return c.Status + " " + c.From + " -> " + c.Path
	}
	return c.Status + " " + c.Path
}

// refs are the lines of the working tree that the patch shows.
func (c Change) refs() (all []tool.Ref) {
	for _, line := range c.Patch {
		if !strings.HasPrefix(line, "@@ ") {
			continue
		}
		if start, n := hunkSpan(line, '+'); start > 0 && n > 0 {
			all = append(all, tool.Ref{Source: tool.Code, Path: c.Path, Start: start, End: start + n - 1, Opened: true})
		}
	}
	return all
}

// writeLines shows the lines of a blame; each commit says its subject once.
func (h *past) writeLines(b *strings.Builder, res *tool.Result) {
	told := map[string]bool{}
	for _, l := range h.data.Lines {
		who := "not committed"
		if l.Hash != "" {
			who = fmt.Sprintf("%s%s %s %s", gitCite, l.Hash, l.Date, l.Author)
			if !told[l.Hash] {
				told[l.Hash] = true
				fmt.Fprintf(b, "%s: %s\n", who, l.Subject)
				res.Refs = append(res.Refs, tool.Ref{Source: tool.Code, Path: gitCite + l.Hash, Title: l.Subject, Opened: true})
			}
			who = gitCite + l.Hash
		}
		fmt.Fprintf(b, "%4d| %s | %s\n", l.Line, who, l.Text)
	}
	if n := len(h.data.Lines); n > 0 && h.commit == "" {
		res.Refs = append(res.Refs, tool.Ref{Source: tool.Code, Path: h.data.Path, Start: h.data.Lines[0].Line, End: h.data.Lines[n-1].Line, Opened: true})
	}
}
