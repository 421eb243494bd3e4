package oracle_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/agent"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/tool"
)

// is wants a text.
func is(got, want string) string {
	if got == want {
		return ""
	}
	return fmt.Sprintf("it is\n\t%s\nand should be\n\t%s", got, want)
}

// has wants a part of a text, and hasNot none.
func has(text, part string) string {
	if strings.Contains(text, part) {
		return ""
	}
	return fmt.Sprintf("it lacks %q:\n%s", part, text)
}

func hasNot(text, part string) string {
	if part != "" && !strings.Contains(text, part) {
		return ""
	}
	return fmt.Sprintf("it holds %q:\n%s", part, text)
}

// among wants a text in a list; "none" an empty list.
func among(all []string, want string) string {
	if want == "none" && len(all) == 0 || slices.Contains(all, want) {
		return ""
	}
	return fmt.Sprintf("it is not among %q", all)
}

// leftByCalls is what calls of the last run sent away.
func (h *harness) leftByCalls() (all []string) {
	for _, c := range h.completions(agent.EffectCall) {
		for _, left := range oracle.Describe(nil, oracle.Surroundings{}).Left(&c) {
			all = append(all, left.String())
		}
	}
	return all
}

// standIn is a model that answers in another one's place.
type standIn struct{ model.Model }

func (s standIn) Chat(ctx context.Context, req model.Request, emit func(model.Delta) error) (model.Response, error) {
	resp, err := s.Model.Chat(ctx, req, emit)
	resp.Model = "local:small"
	resp.Tries = []model.Try{{Model: "cloud:big", Kind: model.RateLimit, Message: "slow down"}}
	return resp, err
}

// named are questions by their names.
func named(question string) string {
	if text, is := map[string]string{"auth": auth, "caching": caching, "weather": weather, "thanks": thanks, "save": save}[question]; is {
		return text
	}
	return question
}

// number reads a number.
func number(text string) int {
	n, err := strconv.Atoi(strings.ReplaceAll(text, "_", ""))
	if err != nil {
		panic(fmt.Sprintf("%q is no number", text))
	}
	return n
}

// placed are the arguments of a call: JSON as it stands, or lines of a file or a page in short.
func placed(rest string) (tool, args string) {
	tool, args, _ = strings.Cut(rest, " ")
	switch name, span, isPath := strings.Cut(args, ":"); {
	case args == "":
		args = "{}"
	case strings.HasPrefix(args, "http"):
		args = fmt.Sprintf(`{"url":%q}`, args)
	case strings.HasPrefix(args, "{") || strings.HasPrefix(args, "["):
	case isPath:
		from, to, _ := strings.Cut(span, "-")
		args = lines(name, number(from), number(to))
	default:
		args = fmt.Sprintf(`{"query":%q}`, args)
	}
	return tool, args
}

// turnOf makes a turn of “words -> tool arguments -> tool arguments”.
func turnOf(rest string) modeltest.Turn {
	parts := strings.Split(rest, " -> ")
	turn := modeltest.Say(strings.TrimSpace(parts[0]))
	for _, call := range parts[1:] {
		turn = turn.AndCall(placed(call))
	}
	return turn
}

// each makes a turn of each word.
func each(rest string, of func(word string) modeltest.Turn) (turns []modeltest.Turn) {
	for word := range strings.FieldsSeq(rest) {
		turns = append(turns, of(word))
	}
	return turns
}

// replies are what a model does, in one turn or more.
var replies = map[string]func(rest string) []modeltest.Turn{
	"says":             func(rest string) []modeltest.Turn { return []modeltest.Turn{turnOf(rest)} },
	"calls":            func(rest string) []modeltest.Turn { return []modeltest.Turn{turnOf(" -> " + rest)} },
	"ends":             func(string) []modeltest.Turn { return []modeltest.Turn{theEnd} },
	"looks everywhere": func(string) []modeltest.Turn { return []modeltest.Turn{grabby()} },
	"fails":            func(rest string) []modeltest.Turn { return []modeltest.Turn{modeltest.Fail(model.Kind(rest))} },
	"reads": func(rest string) []modeltest.Turn { // files, each in a turn of its own, for a reason of its own
		return each(rest, func(file string) modeltest.Turn {
			return modeltest.SayAndCall(needTurn("see "+file), "code_read", lines(file, 1, 9))
		})
	},
	"thinks": func(rest string) []modeltest.Turn {
		return each(rest, func(of string) modeltest.Turn { return modeltest.Say(needTurn("think of " + of)) })
	},
	"tries": func(rest string) []modeltest.Turn { // a call again and again, each time for another reason
		call, reasons, _ := strings.Cut(rest, " for ")
		return each(reasons, func(reason string) modeltest.Turn { return turnOf(needTurn("look for "+reason) + " -> " + call) })
	},
}

// furthers are more of what a model does in its turn.
var furthers = map[string]func(t modeltest.Turn, rest string) modeltest.Turn{
	"uses": func(t modeltest.Turn, rest string) modeltest.Turn { // tokens in, out, and those of the input that were cached
		for i, n := range strings.Fields(rest) {
			*[]*int{&t.Usage.InputTokens, &t.Usage.OutputTokens, &t.Usage.CachedTokens}[i] = number(n)
		}
		return t
	},
	"cut":      func(t modeltest.Turn, _ string) modeltest.Turn { t.Finish = model.FinishLength; return t },
	"filtered": func(t modeltest.Turn, _ string) modeltest.Turn { t.Finish = model.FinishFilter; return t },
	"and fails": func(t modeltest.Turn, rest string) modeltest.Turn {
		kind, message, _ := strings.Cut(rest, " ")
		t.Err = &model.Error{Kind: model.Kind(kind), Message: message}
		return t
	},
}

// worlds change the world before a question.
var worlds = map[string]func(h *harness, rest string){
	"turns at most":   func(h *harness, rest string) { h.turns = number(rest) },
	"tokens at most":  func(h *harness, rest string) { h.maxTokens = number(rest) },
	"seconds at most": func(h *harness, rest string) { h.maxTime = time.Duration(number(rest)) * time.Second },
	"a window of":     func(h *harness, rest string) { h.env.WindowTokens = number(rest) },
	"bare calls":      func(h *harness, _ string) { h.env.BareCalls = true },
	"reports by tool": func(h *harness, _ string) { h.env.ReportTool = true },
	"no web search": func(h *harness, _ string) {
		h.env.Web = false
		h.world.without("web_search")
	},
	"no folder of notes": func(h *harness, _ string) { h.env.Vault = "" },
	"left out":           func(h *harness, rest string) { h.env.LeftOut = []string{rest} },
	"without":            func(h *harness, rest string) { h.world.without(strings.Fields(rest)...) },
	"only code":          func(h *harness, _ string) { h.onlyCode() },
	"nothing to read": func(h *harness, _ string) {
		h.onlyCode()
		h.world.without("code_read", "code_search")
	},
	"finds nothing": func(h *harness, rest string) {
		for name := range strings.FieldsSeq(rest) {
			h.world.on(name, finds())
		}
	},
	"gives": func(h *harness, rest string) { // a tool, and the text that it opens
		name, text, _ := strings.Cut(rest, " ")
		h.world.on(name, opens(h.world.tools[name].Spec().Source, text))
	},
	"fails with": func(h *harness, rest string) { // a tool, the kind of its error, and what it says
		part := strings.SplitN(rest, " ", 3)
		h.world.on(part[0], fails(tool.Kind(part[1]), "", part[2]))
	},
	"fails once": func(h *harness, rest string) { // with the hint to ask for less
		part := strings.SplitN(rest, " ", 3)
		works, failed := func(tool.Call) (tool.Result, error) { return wrote, nil }, false
		if f, reads := h.world.tools[part[0]].(*fake); reads {
			works = f.do
		}
		h.world.on(part[0], func(c tool.Call) (tool.Result, error) {
			if !failed {
				failed = true
				return tool.Result{}, tool.Errorf(tool.Kind(part[1]), "ask for less", "%s", part[2])
			}
			return works(c)
		})
	},
	"finds": func(h *harness, rest string) { // a tool, and a place that it finds
		name, place, _ := strings.Cut(rest, " ")
		path, span, _ := strings.Cut(place, ":")
		from, to, _ := strings.Cut(span, "-")
		h.world.on(name, finds(tool.Ref{Source: h.world.tools[name].Spec().Source, Path: path, Start: number(from), End: number(to)}))
	},
	"finds a page": func(h *harness, rest string) {
		name, address, _ := strings.Cut(rest, " ")
		h.world.on(name, finds(tool.Ref{Source: tool.Web, URL: address}))
	},
	"folders":     func(h *harness, rest string) { h.env.CodeRoot, h.env.Vault, _ = strings.Cut(rest, " ") },
	"handed over": func(h *harness, rest string) { h.material = rest },
	"finds something else each time": func(h *harness, rest string) {
		n := 0
		h.world.on(rest, func(c tool.Call) (tool.Result, error) {
			n++
			return finds(tool.Ref{Source: tool.Code, Path: spelled[n] + ".go", Start: 1})(c)
		})
	},
	"read-only": func(h *harness, rest string) { // notes that can't be written
		h.world.on("vault_write", refusing(strings.Fields(rest)...))
	},
	"in doubt": func(h *harness, rest string) { // a note of which nobody can tell whether it was written
		h.world.on("vault_write", func(c tool.Call) (tool.Result, error) {
			if strings.Contains(string(c.Args), rest) {
				panic("the disk is gone")
			}
			return wrote, nil
		})
	},
	"breaks down": func(h *harness, rest string) {
		h.world.on(rest, func(tool.Call) (tool.Result, error) { panic("index out of range") })
	},
	"opens so many tokens": func(h *harness, rest string) { h.openLong(number(rest)) },
	"the person names":     func(h *harness, rest string) { h.named = append(h.named, tool.Source(rest)) },
	"a tracker":            func(h *harness, _ string) { withServer(h) },
	"the tree has": func(h *harness, rest string) {
		from, to, _ := strings.Cut(rest, " for ")
		h.changed(to, from)
	},
	"alone": func(h *harness, rest string) { // a detector and its threshold
		name, threshold, _ := strings.Cut(rest, ": ")
		h.alone(name, number(threshold))
	},
	"a classifier says": func(h *harness, rest string) { // verdicts with scores
		c := &classifier{}
		for pair := range strings.SplitSeq(rest, ", ") {
			label, score, _ := strings.Cut(pair, " ")
			n, err := strconv.ParseFloat(score, 64)
			if err != nil && score != "" {
				panic(err)
			}
			if pair != "" {
				c.scores = append(c.scores, oracle.Score{Label: label, Score: n})
			}
		}
		h.judge, h.classifier, h.engine = c, c.ask, nil
	},
	"a classifier fails": func(h *harness, rest string) {
		c := &classifier{err: errors.New(rest)}
		h.judge, h.classifier, h.engine = c, c.ask, nil
	},
	"a classifier breaks down": func(h *harness, _ string) {
		h.classifier = func(context.Context, string) ([]oracle.Score, error) { panic("index out of range") }
	},
	"a classifier elsewhere": func(h *harness, _ string) { h.configured = true },
	"another model answers":  func(h *harness, _ string) { h.model = standIn{h.script} },
	"another session":        func(h *harness, rest string) { h.openSession(rest) },
}

// requests check what a request tells the model.
var requests = map[string]func(h *harness, r model.Request, rest string) string{
	"notes":   func(*harness, model.Request, string) string { return "" },
	"offered": func(_ *harness, r model.Request, rest string) string { return is(strings.Join(offered(r), " "), rest) },
	"never offered": func(_ *harness, r model.Request, rest string) string {
		return hasNot(strings.Join(offered(r), " "), rest)
	},
	"calls and results match": func(_ *harness, r model.Request, _ string) string {
		asked, answered := map[string]bool{}, map[string]bool{}
		for _, m := range r.Messages {
			for _, c := range m.ToolCalls {
				asked[c.ID] = true
			}
			if m.Role == model.ToolRole {
				answered[m.ToolCallID] = true
			}
		}
		return cmp.Diff(asked, answered)
	},
	"in order":  func(_ *harness, r model.Request, rest string) string { return is(strings.Join(inOrder(r), " "), rest) },
	"told":      func(_ *harness, r model.Request, rest string) string { return has(lastText(r), rest) },
	"told only": func(_ *harness, r model.Request, rest string) string { return is(lastText(r), rest) },
	"not told":  func(_ *harness, r model.Request, rest string) string { return hasNot(lastText(r), rest) },
	"sees":      func(_ *harness, r model.Request, rest string) string { return has(whole(r), rest) },
	"sees once": func(_ *harness, r model.Request, rest string) string {
		return is(fmt.Sprint(strings.Count(whole(r), rest)), "1")
	},
	"sees no":                         func(_ *harness, r model.Request, rest string) string { return hasNot(whole(r), rest) },
	"the prompt has":                  func(_ *harness, r model.Request, rest string) string { return has(r.System, rest) },
	"the prompt has no":               func(_ *harness, r model.Request, rest string) string { return hasNot(r.System, rest) },
	"the prompt is that of the first": func(h *harness, r model.Request, _ string) string { return is(r.System, h.request(1).System) },
	"hears":                           func(_ *harness, r model.Request, rest string) string { return has(said(r, model.ToolRole), rest) },
	"hears only":                      func(_ *harness, r model.Request, rest string) string { return is(said(r, model.ToolRole), rest) },
	"remembers":                       func(_ *harness, r model.Request, rest string) string { return has(said(r, model.Assistant), rest) },
	"remembers no":                    func(_ *harness, r model.Request, rest string) string { return hasNot(said(r, model.Assistant), rest) },
	"messages":                        func(_ *harness, r model.Request, rest string) string { return is(fmt.Sprint(len(r.Messages)), rest) },
}

// ends check what is known when a run has ended. A list is written with blanks or line by line; “none” is an empty one.
var ends = map[string]func(h *harness, a oracle.Answer, rest string) string{
	"answer":        func(_ *harness, a oracle.Answer, rest string) string { return is(a.Answer, rest) },
	"answer has":    func(_ *harness, a oracle.Answer, rest string) string { return has(a.Answer, rest) },
	"answer has no": func(_ *harness, a oracle.Answer, rest string) string { return hasNot(a.Answer, rest) },
	"stop":          func(_ *harness, a oracle.Answer, rest string) string { return is(a.StopReason, rest) },
	"error": func(_ *harness, a oracle.Answer, rest string) string {
		if a.Error == nil {
			return is("", rest)
		}
		return has(a.Error.Kind+" "+a.Error.Reason, rest)
	},
	"turns":      func(_ *harness, a oracle.Answer, rest string) string { return is(fmt.Sprint(a.Turns), rest) },
	"caveat":     func(_ *harness, a oracle.Answer, rest string) string { return is(a.Caveat, rest) },
	"caveat has": func(_ *harness, a oracle.Answer, rest string) string { return has(a.Caveat, rest) },
	"blocker":    func(_ *harness, a oracle.Answer, rest string) string { return is(a.Blocker, rest) },
	"suggestions": func(_ *harness, a oracle.Answer, rest string) string {
		return is(strings.Join(a.Suggestions, ", "), rest)
	},
	"class":       func(_ *harness, a oracle.Answer, rest string) string { return is(a.QueryType, rest) },
	"topic shift": func(_ *harness, a oracle.Answer, rest string) string { return is(fmt.Sprint(a.TopicShift), rest) },
	"reached": func(h *harness, _ oracle.Answer, rest string) string {
		return is(strings.Join(h.world.called(), " "), rest)
	},
	"reached in any order": func(h *harness, _ oracle.Answer, rest string) string {
		return is(strings.Join(slices.Sorted(slices.Values(h.world.called())), " "), rest)
	},
	"reached times": func(h *harness, _ oracle.Answer, rest string) string {
		return is(fmt.Sprint(len(h.world.called())), rest)
	},
	"calls made": func(_ *harness, a oracle.Answer, rest string) string { return is(fmt.Sprint(len(a.ToolCalls)), rest) },
	"refused": func(_ *harness, a oracle.Answer, rest string) string {
		var all []string
		for _, c := range a.ToolCalls {
			if c.Refused != "" {
				all = append(all, c.Name+": "+c.Refused)
			}
		}
		return among(all, rest)
	},
	"failed call": func(_ *harness, a oracle.Answer, rest string) string {
		var all []string
		for _, c := range a.ToolCalls {
			all = append(all, c.Error)
		}
		return has(strings.Join(all, "\n"), rest)
	},
	"written": func(h *harness, _ oracle.Answer, rest string) string {
		return is(strings.Join(h.world.written(), " "), rest)
	},
	"decided": func(_ *harness, a oracle.Answer, rest string) string {
		return is(strings.Join(consulted(a), "; "), rest)
	},
	"because": func(_ *harness, a oracle.Answer, rest string) string {
		return is(a.Fallbacks[len(a.Fallbacks)-1].Because, rest)
	},
	"loops": func(_ *harness, a oracle.Answer, rest string) string { return is(strings.Join(loops(a), "; "), rest) },
	"strikes": func(h *harness, _ oracle.Answer, rest string) string {
		return is(strings.Join(h.strikes(), "; "), rest)
	},
	"warned":    func(_ *harness, a oracle.Answer, rest string) string { return is(strings.Join(told(a), "; "), rest) },
	"warned of": func(_ *harness, a oracle.Answer, rest string) string { return has(strings.Join(told(a), "\n"), rest) },
	"notices": func(_ *harness, a oracle.Answer, rest string) string { // of a type, and how many
		kind, n, _ := strings.Cut(rest, " ")
		return is(fmt.Sprint(len(notices(a, kind))), n)
	},
	"cited": func(_ *harness, a oracle.Answer, rest string) string { return is(strings.Join(cites(a), " "), rest) },
	"unsupported": func(_ *harness, a oracle.Answer, rest string) string {
		return is(strings.Join(a.Unsupported, " "), rest)
	},
	"sources": func(_ *harness, a oracle.Answer, rest string) string {
		var all []string
		for _, s := range a.Sources {
			all = append(all, s.Cite)
		}
		return is(strings.Join(all, " "), rest)
	},
	"tried": func(_ *harness, a oracle.Answer, rest string) string {
		var all []string
		for _, t := range a.Tried {
			all = append(all, fmt.Sprintf("%s %d calls %d hits %d empty %d opened %d errors", t.Source, t.Calls, t.Hits, t.Empty, t.Opened, t.Errors))
		}
		return is(strings.Join(all, "; "), rest)
	},
	"gaps": func(_ *harness, a oracle.Answer, rest string) string { return is(strings.Join(a.Gaps, "; "), rest) },
	"signals": func(_ *harness, a oracle.Answer, rest string) string {
		var all []string
		for _, s := range a.Signals {
			all = append(all, string(s.Type))
		}
		return is(strings.Join(all, " "), rest)
	},
	"last signal": func(_ *harness, a oracle.Answer, rest string) string { return is(string(a.Signal.Type), rest) },
	"problem": func(_ *harness, a oracle.Answer, rest string) string {
		var all []string
		for _, p := range a.Problems {
			all = append(all, p.Reason)
		}
		return has(strings.Join(all, "\n"), rest)
	},
	"problems": func(_ *harness, a oracle.Answer, rest string) string { return is(fmt.Sprint(len(a.Problems)), rest) },
	"budget": func(_ *harness, a oracle.Answer, rest string) string {
		if a.Budget == nil {
			return is("none", rest)
		}
		return is(fmt.Sprintf("%s %d of %d", a.Budget.Kind, a.Budget.Used, a.Budget.Limit), rest)
	},
	"usage": func(_ *harness, a oracle.Answer, rest string) string {
		return is(fmt.Sprint(a.Usage.InputTokens, a.Usage.OutputTokens), rest)
	},
	"waits": func(_ *harness, a oracle.Answer, rest string) string {
		var all []string
		for _, w := range a.Waiting {
			all = append(all, w.Tool+" "+w.Arguments+": "+w.Why)
		}
		return among(all, rest)
	},
	"writes": func(_ *harness, a oracle.Answer, rest string) string {
		w := a.Writes
		return is(fmt.Sprintf("%d asked %d done %d failed %d refused %d unsure", w.Asked, w.Done, w.Failed, w.Refused, w.Unsure), rest)
	},
	"left by calls": func(h *harness, _ oracle.Answer, rest string) string {
		return is(fmt.Sprint(len(h.leftByCalls())), rest)
	},
	"left":         func(h *harness, _ oracle.Answer, rest string) string { return among(h.leftByCalls(), rest) },
	"question":     func(_ *harness, a oracle.Answer, rest string) string { return is(a.Question, rest) },
	"not of class": func(_ *harness, a oracle.Answer, rest string) string { return hasNot(a.QueryType, rest) },
	"labels":       func(_ *harness, a oracle.Answer, rest string) string { return is(a.Labels.String(), rest) },
	"trace has":    func(h *harness, _ oracle.Answer, rest string) string { return has(h.trace(), rest) },
	"shown":        func(h *harness, _ oracle.Answer, rest string) string { return is(h.shown, rest+"\n") },
	"never shown":  func(h *harness, _ oracle.Answer, rest string) string { return hasNot(h.shown, rest) },
	"judged": func(h *harness, _ oracle.Answer, rest string) string {
		return is(strings.Join(h.judge.asked, "; "), rest)
	},
	"judged times": func(h *harness, _ oracle.Answer, rest string) string { return is(fmt.Sprint(len(h.judge.asked)), rest) },
	"necessary": func(_ *harness, a oracle.Answer, rest string) string { // whether the answer rests on each call
		var all []string
		for _, c := range a.ToolCalls {
			all = append(all, map[bool]string{true: "yes", false: "no"}[c.Used])
		}
		return is(strings.Join(all, " "), rest)
	},
	"notice": func(_ *harness, a oracle.Answer, rest string) string { // in JSON, or its beginning
		var all []string
		for _, n := range a.Notices {
			all = append(all, arguments(n))
		}
		if strings.HasSuffix(rest, "}") {
			return among(all, rest)
		}
		return has("\n"+strings.Join(all, "\n"), "\n"+rest)
	},
	"fate": func(h *harness, _ oracle.Answer, rest string) string { // of the first signal: fate, node and why, as far as they are given
		s := h.signals()[0]
		fate, more, _ := strings.Cut(rest, " ")
		node, why, _ := strings.Cut(more, ": ")
		if strings.HasPrefix(more, ": ") {
			node = ""
		}
		if string(s.Fate) == fate && strings.HasSuffix(s.Rule, node) && strings.HasPrefix(s.Why, why) {
			return ""
		}
		return fmt.Sprintf("it is %s by %s: %s", s.Fate, s.Rule, s.Why)
	},
	"segments": func(h *harness, _ oracle.Answer, rest string) string { // of each prompt
		for _, r := range h.receipts() {
			if wrong := is(strings.Join(r.Segments, " "), rest); wrong != "" {
				return wrong
			}
		}
		return ""
	},
	"shorter": func(h *harness, _ oracle.Answer, rest string) string { // a request than three quarters of another
		short, long, _ := strings.Cut(rest, " than ")
		if a, b := len(whole(h.request(number(short)))), len(whole(h.request(number(long)))); a > b*3/4 {
			return fmt.Sprintf("%d characters after %d", a, b)
		}
		return ""
	},
	"every notice once": func(_ *harness, a oracle.Answer, _ string) string {
		seen := map[string]bool{}
		for _, n := range a.Notices {
			if seen[n.Type+n.Text] || !strings.Contains(n.Type, ".") || n.Severity == "" || n.Text == "" || n.Turn < 1 || n.Turn > a.Turns {
				return fmt.Sprintf("an odd notice: %+v", n)
			}
			seen[n.Type+n.Text] = true
		}
		return ""
	},
	"status": func(h *harness, a oracle.Answer, rest string) string {
		r, err := h.store.Run(h.t.Context(), owner, a.RunID)
		if err != nil {
			return err.Error()
		}
		return is(string(r.Status), rest)
	},
}
