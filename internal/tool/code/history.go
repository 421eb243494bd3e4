package code

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"sibyl/internal/files"
	"sibyl/internal/redact"
	"sibyl/internal/tool"
)

const (
	maxPatched = 60      // files of a diff that are shown
	maxBlamed  = 200     // lines of one blame
	maxMessage = 1 << 10 // bytes of a commit's message without its subject
	shortHash  = 10      // digits of a commit's hash that are shown
)

// HistoryArgs are the arguments of code_history.
type HistoryArgs struct {
	What   string `json:"what,omitempty" enum:"log,diff,blame"`
	Path   string `json:"path,omitempty" doc:"file or folder"`
	Start  int    `json:"start,omitempty" doc:"first line" min:"1"`
	End    int    `json:"end,omitempty" min:"1"`
	Commit string `json:"commit,omitempty" doc:"of diff left out: what is not committed" max:"200"`
	Limit  int    `json:"limit,omitempty" min:"1" max:"50" default:"10"`
}

// gitCite precedes the hash of a commit, in answers that cite it and in the path of its tool.Ref.
const gitCite = "git:"

func (r *Root) historyTool() tool.Tool {
	return tool.New(tool.Spec{
		Source: tool.Code, Effect: tool.Repeatable,
		Name: "code_history",
		Description: "Reads the git history: log (commits), diff (what one changed) or blame (who changed each line " +
			"last). Cite git:HASH.",
	}, r.readHistory)
}

// history is the state of one call of code_history.
type history struct {
	*repository
	args   HistoryArgs
	path   string // cleaned
	commit string // full hash; "" for none

	text   resultText
	refs   []tool.Ref
	names  []string // of changed files
	items  int
	isCut  bool            // there is more
	secret map[string]bool // changed files that are left out

	shallow []string    // where a shallow clone ends: hashes of the commits whose parents are not here
	unseen  tool.Result // its Uncovered is what is not looked at
}

func (r *Root) readHistory(ctx context.Context, _ tool.Call, args HistoryArgs) (tool.Result, error) {
	at, err := historyPath(args)
	if err != nil {
		return tool.Result{}, err
	}
	g, err := r.openRepository(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	h := history{repository: g, args: args, path: at, secret: map[string]bool{}}
	if h.commit, err = g.resolveCommit(ctx, args.Commit); err != nil {
		return tool.Result{}, err
	}
	if h.commit == "" {
		switch _, err := g.resolveCommit(ctx, "HEAD"); {
		case err != nil && tool.AsError(err).Kind == tool.NotFound:
			return tool.Result{}, notRepository("nothing is committed yet")
		case err != nil:
			return tool.Result{}, err
		}
	}
	if h.shallow, err = g.shallowCommits(ctx); err != nil {
		return tool.Result{}, err
	}
	show := map[string]func(context.Context) error{
		"": h.showLog, "log": h.showLog, "diff": h.showDiff, "blame": h.showBlame}
	if err := show[args.What](ctx); err != nil {
		return tool.Result{}, err
	}
	if h.items == 0 {
		if err := h.findSubmodule(ctx); err != nil {
			return tool.Result{}, err
		}
	}
	return h.result(), nil
}

// shallowCommits returns the commits whose parents a shallow clone does not have; nil if it has all.
func (g *repository) shallowCommits(ctx context.Context) ([]string, error) {
	out, _, err := g.runGit(ctx, "rev-parse", "--is-shallow-repository")
	if err != nil || strings.TrimSpace(string(out)) != "true" {
		return nil, err
	}
	out, _, err = g.runGit(ctx, "rev-parse", "--git-path", "shallow")
	if err != nil {
		return nil, err
	}
	name := strings.TrimSuffix(string(out), "\n")
	if !filepath.IsAbs(name) {
		name = filepath.Join(g.root, name)
	}
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxGitOutput {
		return nil, notRepository("the list of where a shallow clone ends can't be read")
	}
	listed, err := os.ReadFile(name)
	if err != nil {
		return nil, notRepository("the list of where a shallow clone ends can't be read")
	}
	return strings.Fields(string(listed)), nil
}

// endsAt says whether the history here ends with a commit, which then seems to have made all that it holds.
func (h *history) endsAt(hash string) bool {
	hash = strings.TrimPrefix(hash, gitCite)
	return hash != "" && slices.ContainsFunc(h.shallow, func(s string) bool { return strings.HasPrefix(s, hash) })
}

func (h *history) noteShallow() {
	if len(h.unseen.Uncovered) == 0 {
		h.unseen.LeaveOut(tool.Shallow, 1)
	}
}

// findSubmodule says that a path lies in another repository within this one.
func (h *history) findSubmodule(ctx context.Context) error {
	for at := h.path; at != "." && at != "/"; at = path.Dir(at) {
		out, _, err := h.runGit(ctx, "ls-files", "--stage", "--", at)
		if err != nil && tool.AsError(err).Kind != tool.Failed {
			return err
		}
		if strings.HasPrefix(string(out), "160000 ") {
			h.unseen.LeaveOut(tool.Submodule, 1, at)
			return nil
		}
	}
	return nil
}

// historyPath checks the arguments against each other, and gives the path.
func historyPath(args HistoryArgs) (string, error) {
	at, err := cleanPath(args.Path)
	if err != nil {
		return "", err
	}
	if why := files.SecretPathReason(at); why != "" {
		return "", tool.Errorf(tool.Denied, secretHint, "%s is closed: %s", at, why)
	}
	lines := args.Start > 0 || args.End > 0
	switch {
	case at == "." && (lines || args.What == "blame"):
		return "", tool.Errorf(tool.InvalidArgs, "name the file in path", "lines are asked for, of no file")
	case lines && args.What == "diff":
		return "", tool.Errorf(tool.InvalidArgs, "leave start and end out, or ask for log or blame",
			"a diff is of whole files")
	case args.End > 0 && args.End < args.Start:
		return "", tool.Errorf(tool.InvalidArgs, "start is the first line, end the last",
			"end is %d, before start, which is %d", args.End, args.Start)
	}
	return at, nil
}

// revision matches allowed names of commits: nothing that git would read as an option, a path or a range.
var revision = pattern(`^[\pL\pN_][\pL\pN_./+-]*(?:[~^][0-9]*)*$`)

// resolveCommit finds the full hash of a named commit; "" for no name.
func (g *repository) resolveCommit(ctx context.Context, named string) (string, error) {
	if named = strings.TrimPrefix(named, gitCite); named == "" {
		return "", nil
	}
	unknown := tool.Errorf(tool.NotFound, "log lists the commits there are; give a hash, a branch or a tag",
		"there is no commit %s", printable(named, maxShort))
	if !revision().MatchString(named) {
		return "", unknown
	}
	out, _, err := g.runGit(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", named+"^{commit}")
	hash := strings.TrimSpace(string(out))
	if err != nil && tool.AsError(err).Kind != tool.Failed {
		return "", err
	}
	if hash == "" {
		return "", unknown
	}
	return hash, nil
}

// readLines runs git, and returns the lines of its output, without secrets.
func (h *history) readLines(ctx context.Context, args ...string) ([]string, error) {
	out, cut, err := h.runGit(ctx, args...)
	if err != nil {
		return nil, err
	}
	h.isCut = h.isCut || cut
	lines := strings.Split(strings.TrimSuffix(string(redact.Lines(out)), "\n"), "\n")
	for i, line := range lines {
		lines[i] = decodeLine(line)
	}
	return lines, nil
}

// decodeLine decodes a line that git took from a file: of UTF-16 it has cut the lines between the bytes of a character.
func decodeLine(line string) string {
	if strings.IndexByte(line, 0) >= 0 && !strings.Contains(line, "\x00\x00") {
		line = strings.NewReplacer("\x00", "", "\xff\xfe", "", "\xfe\xff", "").Replace(line)
	}
	if raw := []byte(line); !isUTF8(raw) {
		return string(fromWindows(raw))
	}
	return line
}

// diffOptions are git's options for commands that show changes.
var diffOptions = []string{"--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all",
	"--relative", "-M"}

// commitOptions are git's options for commands that show commits. Only the first line of a commit begins with git: at
// the margin, since the message is indented.
func commitOptions() []string {
	return append([]string{
		"--format=" + gitCite + "%h  %as  %an: %s%n%w(0,4,4)%b", fmt.Sprintf("--abbrev=%d", shortHash),
		"--no-show-signature", "--no-notes", "--no-mailmap", "--encoding=UTF-8", "--diff-merges=first-parent",
	}, diffOptions...)
}

func (h *history) showLog(ctx context.Context) error {
	args := append([]string{"log", fmt.Sprintf("--max-count=%d", h.args.Limit+1)}, commitOptions()...)
	from := h.commit
	if from == "" {
		from = "HEAD"
	}
	if h.args.Start > 0 || h.args.End > 0 {
		start := max(h.args.Start, 1)
		args = append(args, "-s", fmt.Sprintf("-L%d,%d:%s", start, max(start, h.args.End), h.path),
			"--end-of-options", from)
	} else {
		args = append(args, "--name-status", "--end-of-options", from, "--", h.path)
	}
	return h.showCommits(ctx, args...)
}

// changeLine is a line of --name-status.
var changeLine = pattern(`^[A-Z][0-9]*\t`)

// showCommits shows the commits that git prints with commitOptions, and the files that changed. It keeps the names of
// these files in h.names.
func (h *history) showCommits(ctx context.Context, args ...string) error {
	lines, err := h.readLines(ctx, args...)
	if err != nil {
		return err
	}
	message := 0 // bytes
	for _, line := range lines {
		cite, rest, _ := strings.Cut(line, " ")
		switch {
		case strings.HasPrefix(line, gitCite):
			if h.items == h.args.Limit {
				h.isCut = true
				return nil
			}
			h.items++
			_, subject, _ := strings.Cut(rest, ": ")
			if h.path == "." || !h.endsAt(cite) {
				h.addCommitRef(cite, subject)
			}
			h.text.addLine("%s", printable(line, maxShort))
			message = 0
			if h.endsAt(cite) {
				h.text.addLine("    (the history here ends with it: what it seems to add may be older)")
				h.noteShallow()
			}
		case changeLine().MatchString(line):
			fields := strings.Split(line, "\t")
			h.addChangedFile(fields[0], fields[1:])
		case strings.TrimSpace(line) != "" && message <= maxMessage:
			if message += len(line); message > maxMessage {
				line = "    …"
			}
			h.text.addLine("%s", printable(line, maxShort))
		}
	}
	return nil
}

// addCommitRef adds a commit to the sources that may be cited, and says whether it was new there.
func (h *history) addCommitRef(commit, subject string) bool {
	if slices.ContainsFunc(h.refs, func(r tool.Ref) bool { return r.Path == commit }) {
		return false
	}
	h.refs = append(h.refs, tool.Ref{Source: tool.Code, Path: commit, Title: printable(subject, maxShort),
		Opened: true})
	return true
}

// statuses are the words for the letters of git.
var statuses = map[byte]string{'A': "added", 'C': "added", 'D': "deleted", 'R': "renamed", '?': "untracked"}

// addChangedFile says how a file changed; if it was renamed or copied, the first name is the old one. Files that may
// hold secrets, and names that can't be shown, are left out and counted.
func (h *history) addChangedFile(status string, names []string) {
	for _, name := range names {
		if why := files.SecretPathReason(name); why != "" || !isShowable(name) || name != path.Clean(name) ||
			strings.HasPrefix(name, `"`) {
			h.secret[name] = true
			return
		}
	}
	word := statuses[status[0]]
	if word == "" {
		word = "changed"
	}
	h.names = append(h.names, names...)
	h.text.addLine("    %s %s", word, strings.Join(names, " -> "))
}

// showDiff lists the files that changed, and shows the patches of those that may be read.
func (h *history) showDiff(ctx context.Context) error {
	list := append([]string{"diff"}, diffOptions...)
	show := list
	from := "HEAD"
	if h.commit != "" {
		list = append([]string{"show"}, commitOptions()...)
		show = append([]string{"show", "--format=", "--diff-merges=first-parent"}, diffOptions...)
		from = h.commit
	}
	list = slices.Concat(list, []string{"--name-status", "--end-of-options", from, "--", h.path})
	if err := h.showCommits(ctx, list...); err != nil {
		return err
	}
	known := h.names
	if h.commit == "" {
		untracked, err := h.readLines(ctx, "ls-files", "--others", "--exclude-standard", "--", h.path)
		if err != nil {
			return err
		}
		for _, name := range untracked {
			if name != "" {
				h.addChangedFile("?", []string{name})
			}
		}
	} else if len(h.names)+len(h.secret) == 0 && h.root != h.top {
		return tool.Errorf(tool.NotFound, "log lists the commits that changed something here",
			"the commit changed nothing in this folder")
	}
	h.items = len(h.names)
	h.isCut = h.isCut || len(known) > maxPatched
	if known = known[:min(len(known), maxPatched)]; len(known) == 0 {
		return nil
	}
	show = slices.Concat(show, []string{"--src-prefix=a/", "--dst-prefix=b/", "--end-of-options", from, "--"}, known)
	return h.showPatch(ctx, show)
}

// hunk matches the line above changed lines, which says where they are in the new file.
var hunk = pattern(`^@@ -\S+ \+(\d+)(?:,(\d+))? @@`)

// showPatch shows a diff as git prints it. The lines of the working tree that it shows can be cited.
func (h *history) showPatch(ctx context.Context, args []string) error {
	lines, err := h.readLines(ctx, args...)
	if err != nil {
		return err
	}
	name, header := "", false // a line of a file may look like one that names a file, but not within a header
	for _, line := range lines {
		if !h.text.addLine("%s", printable(line, maxLine)) {
			return nil
		}
		if strings.HasPrefix(line, "diff --git ") {
			name, header = "", true
		}
		if to, is := strings.CutPrefix(line, "+++ b/"); is && header {
			name = strings.TrimSuffix(to, "\t")
		}
		if m := hunk().FindStringSubmatch(line); m != nil {
			header = false
			start, count := parseNumber(m[1]), parseNumber(cmp.Or(m[2], "1"))
			if count > 0 && name != "" && h.commit == "" {
				h.refs = append(h.refs, tool.Ref{Source: tool.Code, Path: name, Start: start, End: start + count - 1,
					Opened: true})
			}
		}
	}
	return nil
}

func parseNumber(digits string) int {
	n, _ := strconv.Atoi(digits) // 0 where there are none
	return n
}

// showBlame shows who changed each line of a file last. The subject of a commit stands above the first of its lines.
func (h *history) showBlame(ctx context.Context) error {
	start, end := max(h.args.Start, 1), h.args.End
	if end == 0 && h.args.Start > 0 {
		end = start
	}
	if end == 0 || end-start >= maxBlamed {
		end = start + maxBlamed - 1
	}
	args := []string{"blame", "--line-porcelain", "--no-textconv", "--no-ext-diff", "--encoding=UTF-8"}
	args = append(args, fmt.Sprintf("-L%d,%d", start, end))
	if h.commit != "" {
		args = append(args, h.commit)
	}
	lines, err := h.readLines(ctx, append(args, "--", h.path)...)
	if err != nil {
		return err
	}
	commit := map[string]string{} // the fields of the commit of the current line
	for _, line := range lines {
		key, value, _ := strings.Cut(line, " ")
		text, last := strings.CutPrefix(line, "\t")
		switch {
		case last:
			h.showBlameLine(start+h.items, commit, text)
			clear(commit)
		case commit["hash"] == "":
			commit["hash"] = key
		default:
			commit[key] = value
		}
	}
	if h.commit == "" {
		end := start + h.items - 1
		h.refs = append(h.refs, tool.Ref{Source: tool.Code, Path: h.path, Start: start, End: end, Opened: true})
	}
	h.isCut = h.items == maxBlamed && (h.args.End == 0 || h.args.End > end)
	return nil
}

func (h *history) showBlameLine(n int, commit map[string]string, text string) {
	h.items++
	cite, who := gitCite+commit["hash"][:shortHash], "not committed"
	if strings.Trim(commit["hash"], "0") != "" {
		who = cite
		if h.endsAt(commit["hash"]) { // nobody knows who wrote it
			h.noteShallow()
			h.text.addLine("%4d| %s or older | %s", n, cite, printable(text, maxLine))
			return
		}
		date := time.Unix(int64(parseNumber(commit["author-time"])), 0).UTC().Format(time.DateOnly)
		if h.addCommitRef(cite, commit["summary"]) {
			h.text.addLine("%s  %s  %s: %s", cite, date, printable(commit["author"], maxShort),
				printable(commit["summary"], maxShort))
		}
	}
	h.text.addLine("%4d| %s | %s", n, who, printable(text, maxLine))
}

// result is the result of the call. What was shown can be cited: commits by their hash, lines by their file.
func (h *history) result() tool.Result {
	text := h.text.String()
	switch {
	case h.items == 0 && h.args.What == "diff" && h.commit == "":
		text += "Nothing is changed since the last commit.\n"
	case h.items == 0:
		text += "No commit changed that.\n"
	case h.isCut || h.text.full:
		text += "(there is more: name a file with path, or give limit)\n"
	}
	if n := len(h.secret); n > 0 {
		text += fmt.Sprintf("Left out: %s that may hold secrets.\n", tool.Count(n, "changed file"))
	}
	if h.items == 0 && len(h.shallow) > 0 {
		h.noteShallow()
	}
	return tool.Result{Text: text, Refs: h.refs, Items: h.items, Truncated: h.isCut || h.text.full,
		Uncovered: h.unseen.Uncovered}
}
