package code

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"strings"
	"sync"

	"sibyl/internal/files"
	"sibyl/internal/redact"
	"sibyl/internal/tool"
)

const (
	maxPatched = 60      // files of a diff that are shown
	maxBlamed  = 200     // lines of one blame
	maxMessage = 1 << 10 // bytes of what a commit says beside its subject
	shortHash  = 10      // digits of a commit's hash that are shown
)

// HistoryArgs are the arguments of code_history.
type HistoryArgs struct {
	What   string `json:"what,omitempty" doc:"log (or left out): the commits, the newest first; diff: what changed; blame: who changed each line last" enum:"log,diff,blame"`
	Path   string `json:"path,omitempty" doc:"only this file or folder; blame wants a file"`
	Start  int    `json:"start,omitempty" doc:"of log and blame: the first line of path that it is about" min:"1"`
	End    int    `json:"end,omitempty" doc:"of log and blame: the last line" min:"1"`
	Commit string `json:"commit,omitempty" doc:"a commit, branch or tag. diff shows what it changed, or, if left out, what is not committed yet; log and blame begin there" max:"200"`
	Limit  int    `json:"limit,omitempty" doc:"of log: most commits wanted" min:"1" max:"50" default:"10"`
}

// HistoryData is the structured result of code_history: of log and of the diff of a commit its Commits, of diff the Changes, of blame the Lines.
type HistoryData struct {
	What    string   `json:"what"`
	Commits []Commit `json:"commits,omitempty"` // the newest first
	Changes []Change `json:"changes,omitempty"`
	Path    string   `json:"path,omitempty"` // of blame
	Lines   []Blamed `json:"lines,omitempty"`
	Secret  int      `json:"secret,omitempty"` // changed files that are left out, because they may hold secrets
}

// Commit is one commit as git tells it.
type Commit struct {
	Hash    string   `json:"hash"` // as answers cite it, behind “git:”
	Author  string   `json:"author"`
	Date    string   `json:"date"` // 2006-01-02
	Subject string   `json:"subject"`
	Body    string   `json:"body,omitempty"`
	Changes []Change `json:"changes,omitempty"` // without patches, below the root only
}

// Cite is how an answer cites the commit.
func (c Commit) Cite() string { return gitCite + c.Hash }

// gitCite stands before the hash of a commit in the path of its tool.Ref.
const gitCite = "git:"

// Change is a file that changed. Patch has the lines of a unified diff from its first @@ on, where it was asked for.
type Change struct {
	Status string   `json:"status"` // added, changed, deleted, renamed, untracked
	Path   string   `json:"path"`
	From   string   `json:"from,omitempty"` // its name before
	Patch  []string `json:"patch,omitempty"`
}

// Blamed is a line of a file with the commit that changed it last; "" if it is not committed.
type Blamed struct {
	Line    int    `json:"line"`
	Hash    string `json:"hash,omitempty"`
	Author  string `json:"author,omitempty"`
	Date    string `json:"date,omitempty"`
	Subject string `json:"subject,omitempty"`
	Text    string `json:"text"`
}

func (r *Root) historyTool() tool.Tool {
	return tool.New(tool.Spec{
		Source: tool.Code, Effect: tool.Repeatable,
		Name: "code_history",
		Description: "Reads the git history of the folder: the commits (log), what a commit or the working tree changed (diff), who changed each " +
			"line last (blame). Use it for what changed, when, why and by whom. Cite a commit as git:HASH, as the result writes it.",
	}, r.history)
}

// revision is how a commit may be named: nothing that git would read as an option, a path or a range.
var revision = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\pL\pN_][\pL\pN_./+-]*(?:[~^][0-9]*)*$`) })

func (r *Root) history(ctx context.Context, _ tool.Call, args HistoryArgs) (tool.Result, error) {
	at, err := historyPath(args)
	if err != nil {
		return tool.Result{}, err
	}
	g, err := r.repository(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	commit, err := g.commit(ctx, args.Commit)
	if err != nil {
		return tool.Result{}, err
	}
	h := past{repository: g, args: args, path: at, commit: commit, data: HistoryData{What: args.What}}
	switch args.What {
	case "diff":
		err = h.diff(ctx)
	case "blame":
		err = h.blame(ctx)
	default:
		h.data.What = "log"
		err = h.log(ctx)
	}
	if err != nil {
		return tool.Result{}, err
	}
	return h.result()
}

// historyPath checks the arguments against each other, and gives the path.
func historyPath(args HistoryArgs) (string, error) {
	at, err := cleanPath(args.Path)
	if err != nil {
		return "", err
	}
	if why := files.SecretPath(at); why != "" {
		return "", tool.Errorf(tool.Denied, "it is never read; look for an example or a template beside it", "%s is closed: %s", at, why)
	}
	lines := args.Start > 0 || args.End > 0
	switch {
	case at == "." && (lines || args.What == "blame"):
		return "", tool.Errorf(tool.InvalidArgs, "name the file in path", "lines are asked for, of no file")
	case lines && args.What == "diff":
		return "", tool.Errorf(tool.InvalidArgs, "leave start and end out, or ask for log or blame", "a diff is of whole files")
	case args.End > 0 && args.End < args.Start:
		return "", tool.Errorf(tool.InvalidArgs, "start is the first line, end the last", "end is %d, before start, which is %d", args.End, args.Start)
	}
	return at, nil
}

// commit finds the full hash of what the arguments name; of nothing, "".
func (g *repository) commit(ctx context.Context, named string) (string, error) {
	if named = strings.TrimPrefix(named, gitCite); named == "" {
		return "", nil
	}
	unknown := tool.Errorf(tool.NotFound, "log lists the commits there are; give a hash, a branch or a tag", "there is no commit %s", printable(named, maxShort))
	if !revision().MatchString(named) {
		return "", unknown
	}
	out, _, err := g.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", named+"^{commit}")
	hash := strings.TrimSpace(string(out))
	if err != nil || hash == "" {
		return "", unknown
	}
	return hash, nil
}

// past is one call of code_history under way.
type past struct {
	*repository
	args   HistoryArgs
	path   string // cleaned
	commit string // full hash; "" for none
	data   HistoryData
	cut    bool
	secret map[string]bool // changed files that are left out
}

// commitFields is the format in which log and show tell of a commit: no field of it can hold the NUL between them.
const commitFields = "--format=%x00%H%x00%an%x00%as%x00%s%x00%b%x00"

// telling are the options of what shows commits and their changes.
func telling(more ...string) []string {
	return comparing(append([]string{"--no-show-signature", "--no-notes", "--no-mailmap", "--encoding=UTF-8", "--diff-merges=first-parent"}, more...)...)
}

// comparing are the options of what shows changes.
func comparing(more ...string) []string {
	return append([]string{"--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--relative", "-M"}, more...)
}

func (h *past) log(ctx context.Context) error {
	args := append([]string{"log", fmt.Sprintf("--max-count=%d", h.args.Limit+1), commitFields}, telling()...)
	if h.args.Start > 0 || h.args.End > 0 {
		args = append(args, "-s", "-L"+lineSpan(h.args.Start, h.args.End)+":"+h.path)
	} else {
		args = append(args, "--name-status")
	}
	args = append(args, "--end-of-options", h.from())
	if h.args.Start == 0 && h.args.End == 0 {
		args = append(args, "--", h.path)
	}
	out, cut, err := h.git(ctx, args...)
	if err != nil {
		if _, none := h.repository.commit(ctx, "HEAD"); h.commit == "" && none != nil {
			return notRepository("nothing is committed yet")
		}
		return err
	}
	h.data.Commits = h.commits(out, cut)
	if len(h.data.Commits) > h.args.Limit {
		h.data.Commits, h.cut = h.data.Commits[:h.args.Limit], true
	}
	return nil
}

func lineSpan(start, end int) string {
	if end == 0 {
		return fmt.Sprintf("%d,%d", max(start, 1), max(start, 1))
	}
	return fmt.Sprintf("%d,%d", max(start, 1), end)
}

func (h *past) from() string {
	if h.commit == "" {
		return "HEAD"
	}
	return h.commit
}

// commits reads what commitFields and --name-status print. Of an output that was cut off, the last commit is left out.
func (h *past) commits(out []byte, cut bool) (all []Commit) {
	fields := strings.Split(string(redact.Lines(out)), "\x00")
	const each = 6
	for i := 1; i+each <= len(fields); i += each {
		f := fields[i : i+each]
		c := Commit{Hash: f[0][:min(shortHash, len(f[0]))], Author: printable(f[1], maxShort), Date: f[2], Subject: printable(f[3], maxShort), Body: message(f[4])}
		for line := range strings.Lines(f[5]) {
			status, names, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			if ok {
				c.Changes = h.add(c.Changes, status, strings.Split(names, "\t"))
			}
		}
		all = append(all, c)
	}
	if cut && len(all) > 0 {
		all, h.cut = all[:len(all)-1], true
	}
	return all
}

// message is the text of a commit below its subject, safe to show.
func message(body string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimSpace(body)) {
		if b.Len() > maxMessage {
			b.WriteString("…\n")
			break
		}
		b.WriteString(printable(line, maxShort) + "\n")
	}
	return strings.TrimSpace(b.String())
}

// statusOf is the word for a letter of git.
func statusOf(letters string) string {
	switch letters[:min(1, len(letters))] {
	case "A", "C":
		return "added"
	case "D":
		return "deleted"
	case "R":
		return "renamed"
	case "?":
		return "untracked"
	}
	return "changed"
}

// add adds a file that changed, with its name before; files that may hold secrets, and names that can't be shown, are left out.
func (h *past) add(to []Change, status string, names []string) []Change {
	for _, name := range names {
		if why := files.SecretPath(name); why != "" || !showable(name) || name != path.Clean(name) || strings.HasPrefix(name, `"`) {
			if h.secret == nil {
				h.secret = map[string]bool{}
			}
			h.secret[name] = true
			return to
		}
	}
	c := Change{Status: statusOf(status), Path: names[len(names)-1]}
	if len(names) > 1 {
		c.From = names[0]
	}
	return append(to, c)
}
