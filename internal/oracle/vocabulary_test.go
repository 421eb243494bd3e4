package oracle_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/texttest"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/signal"
)

// among wants a text of a list that begins so; “none” is an empty list.
func among(all []string, begins string) string {
	if begins == "none" && len(all) == 0 || slices.ContainsFunc(all, func(s string) bool {
		return strings.HasPrefix(s, begins)
	}) {
		return ""
	}
	return fmt.Sprintf("%q is not among %q", begins, all)
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

// questionNamed are questions by their names.
func questionNamed(question string) string {
	if text, is := map[string]string{"auth": auth, "caching": caching, "weather": weather, "thanks": thanks,
		"save": save}[question]; is {
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
	"says":  func(rest string) []modeltest.Turn { return []modeltest.Turn{turnOf(rest)} },
	"calls": func(rest string) []modeltest.Turn { return []modeltest.Turn{turnOf(" -> " + rest)} },
	// until the person stops it
	"hangs":            func(rest string) []modeltest.Turn { return []modeltest.Turn{{Text: rest, Hang: true}} },
	"ends":             func(string) []modeltest.Turn { return []modeltest.Turn{theEnd} },
	"looks everywhere": func(string) []modeltest.Turn { return []modeltest.Turn{grabby()} },
	"fails": func(rest string) []modeltest.Turn {
		return []modeltest.Turn{modeltest.Fail(model.Kind(rest))}
	},
	// files, or so many, each in a turn of its own, for a reason of its own
	"reads": func(rest string) []modeltest.Turn {
		if n, many := strings.CutSuffix(rest, " files"); many {
			rest = ""
			for i := range number(n) {
				rest += spelled[i%len(spelled)] + "-" + spelled[i/len(spelled)] + ".go "
			}
		}
		return each(rest, func(file string) modeltest.Turn {
			return modeltest.SayAndCall(needTurn("see "+file), "code_read", lines(file, 1, 9))
		})
	},
	"thinks": func(rest string) []modeltest.Turn {
		return each(rest, func(of string) modeltest.Turn { return modeltest.Say(needTurn("think of " + of)) })
	},
	"opens": func(rest string) []modeltest.Turn { // so many files in one turn
		turn := modeltest.Say(needTurn("open them all"))
		for i := range number(strings.TrimSuffix(rest, " files")) {
			turn = turn.AndCall("code_read", lines(spelled[i]+".go", 1, 9))
		}
		return []modeltest.Turn{turn}
	},
	"tries": func(rest string) []modeltest.Turn { // a call again and again, each time for another reason
		call, reasons, _ := strings.Cut(rest, " for ")
		return each(reasons, func(reason string) modeltest.Turn {
			return turnOf(needTurn("look for "+reason) + " -> " + call)
		})
	},
}

// furthers are more of what a model does in its turn.
var furthers = map[string]func(h *harness, t modeltest.Turn, rest string) modeltest.Turn{
	// tokens in, out, and those of the input that were cached
	"uses": func(_ *harness, t modeltest.Turn, rest string) modeltest.Turn {
		for i, n := range strings.Fields(rest) {
			*[]*int{&t.Usage.InputTokens, &t.Usage.OutputTokens, &t.Usage.CachedTokens}[i] = number(n)
		}
		return t
	},
	"cut":      func(_ *harness, t modeltest.Turn, _ string) modeltest.Turn { t.Finish = model.FinishLength; return t },
	"repeats":  func(_ *harness, t modeltest.Turn, _ string) modeltest.Turn { t.Finish = model.FinishRepeated; return t },
	"filtered": func(_ *harness, t modeltest.Turn, _ string) modeltest.Turn { t.Finish = model.FinishFilter; return t },
	// so many milliseconds, by the clock that stands still
	"takes": func(h *harness, t modeltest.Turn, rest string) modeltest.Turn {
		return modeltest.Func(func(model.Request) modeltest.Turn {
			h.clock.pass(time.Duration(number(rest)) * time.Millisecond)
			return t
		})
	},
	"and fails": func(_ *harness, t modeltest.Turn, rest string) modeltest.Turn {
		kind, message, _ := strings.Cut(rest, " ")
		t.Err = &model.Error{Kind: model.Kind(kind), Message: message}
		return t
	},
}

// requests check what a request tells the model.
var requests = sync.OnceValue(func() map[string]func(h *harness, r model.Request, rest string) string {
	all := map[string]func(h *harness, r model.Request, rest string) string{
		"notes": func(*harness, model.Request, string) string { return "" }, // it is for notes
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
			return gocmp.Diff(asked, answered)
		},
		"the prompt is that of the first": func(h *harness, r model.Request, _ string) string {
			return texttest.Wrong("is", prompted(r), prompted(h.request(1)))
		},
	}
	add := func(words string, of func(r model.Request) string, how map[string]string) {
		for suffix, manner := range how {
			all[words+suffix] = func(_ *harness, r model.Request, rest string) string {
				return texttest.Wrong(manner, of(r), rest)
			}
		}
	}
	for words, of := range map[string]func(model.Request) string{
		"told":      func(r model.Request) string { return withoutNotes(r)[len(r.Messages)-1].Text }, // in the last message
		"sees":      whole,
		"hears":     func(r model.Request) string { return textOfRole(r, model.ToolRole) },
		"remembers": func(r model.Request) string { return textOfRole(r, model.Assistant) },
		"prompted":  prompted,
	} {
		add(words, of, map[string]string{"": "has", " no": "lacks", " only": "is", " once": "once"})
	}
	for words, of := range map[string]func(model.Request) string{
		"offered":  func(r model.Request) string { return strings.Join(offered(r), " ") },
		"in order": func(r model.Request) string { return strings.Join(inOrder(r), " ") },
		"shown":    func(r model.Request) string { return strings.Join(sentTools(r), " ") },
		"messages": func(r model.Request) string { return fmt.Sprint(len(r.Messages)) },
	} {
		add(words, of, map[string]string{"": "is", " no": "lacks"})
	}
	return all
})

// ends check what is known when a run has ended.
var ends = sync.OnceValue(func() map[string]func(h *harness, a oracle.Answer, rest string) string {
	all := map[string]func(h *harness, a oracle.Answer, rest string) string{
		// of the first signal, the node that decided, and why
		"fate": func(h *harness, _ oracle.Answer, rest string) string {
			s := h.signals()[0]
			node := s.Rule
			if i := strings.LastIndex(node[:max(0, strings.LastIndexByte(node, '/'))], "/"); i >= 0 {
				node = node[i+1:]
			}
			return texttest.Wrong("begins", fmt.Sprintf("%s by %s: %s", s.Fate, cmp.Or(node, "nobody"), s.Why), rest)
		},
		"shorter": func(h *harness, _ oracle.Answer, rest string) string { // a request than three quarters of another
			short, long, _ := strings.Cut(rest, " than ")
			a, b := len(whole(h.request(number(short)))), len(whole(h.request(number(long))))
			if a > b*3/4 {
				return fmt.Sprintf("%d is not much less than %d", a, b)
			}
			return ""
		},
		"notices": func(_ *harness, a oracle.Answer, rest string) string { // of a type, and how many
			kind, n, _ := strings.Cut(rest, " ")
			return texttest.Wrong("is", fmt.Sprint(len(notices(a, kind))), n)
		},
	}
	for words, of := range endLists {
		all[words] = func(h *harness, a oracle.Answer, rest string) string { return among(of(h, a), rest) }
	}
	for words, of := range endTexts {
		for suffix, manner := range map[string]string{"": "is", " has": "has", " lacks": "lacks", " begins": "begins"} {
			all[words+suffix] = func(h *harness, a oracle.Answer, rest string) string {
				return texttest.Wrong(manner, of(h, a), rest)
			}
		}
	}
	return all
})

// endLists are lists of which a line names one.
var endLists = map[string]func(h *harness, a oracle.Answer) []string{
	"left": func(h *harness, _ oracle.Answer) []string { return h.leftByCalls() },
	"refused": func(_ *harness, a oracle.Answer) []string {
		return texts(a.ToolCalls, func(c agent.ToolUse) string { return c.Name + ": " + c.Refused })
	},
	"waits": func(_ *harness, a oracle.Answer) []string {
		return texts(a.Waiting, func(w agent.Waiting) string { return w.Tool + " " + w.Arguments + ": " + w.Text })
	},
	"notice": func(_ *harness, a oracle.Answer) []string {
		return texts(a.Notices, func(n agent.Notice) string { return arguments(n) })
	},
}

func texts[T any](all []T, of func(T) string) (out []string) {
	for _, one := range all {
		out = append(out, of(one))
	}
	return out
}

func spaced[T any](all []T, of func(T) string) string { return strings.Join(texts(all, of), " ") }

func listed(all []string) string { return strings.Join(all, "; ") }

// endTexts are what a line gives whole, or has, lacks or begins.
var endTexts = map[string]func(h *harness, a oracle.Answer) string{
	"answer":            func(_ *harness, a oracle.Answer) string { return a.Answer },
	"outside of fences": func(_ *harness, a oracle.Answer) string { return oracle.WithoutFences(a.Answer) },
	"shown":             func(h *harness, _ oracle.Answer) string { return h.shown },
	"question":          func(_ *harness, a oracle.Answer) string { return a.Question },
	"class":             func(_ *harness, a oracle.Answer) string { return a.QueryType },
	"topic shift":       func(_ *harness, a oracle.Answer) string { return fmt.Sprint(a.TopicShift) },
	"stop":              func(_ *harness, a oracle.Answer) string { return a.StopReason },
	"turns":             func(_ *harness, a oracle.Answer) string { return fmt.Sprint(a.Turns) },
	"caveat":            func(_ *harness, a oracle.Answer) string { return a.Caveat },
	"blocker":           func(_ *harness, a oracle.Answer) string { return a.Blocker },
	"suggestions":       func(_ *harness, a oracle.Answer) string { return listed(a.Suggestions) },
	"labels":            func(_ *harness, a oracle.Answer) string { return a.Labels.String() },
	"gaps":              func(_ *harness, a oracle.Answer) string { return listed(a.Gaps) },
	"footer": func(_ *harness, a oracle.Answer) string {
		raw, _ := json.Marshal(a)
		shown, _ := oracle.Describe(nil, oracle.Surroundings{}).Show(raw)
		return listed(shown.Notes)
	},
	"warned":        func(_ *harness, a oracle.Answer) string { return listed(shownNotices(a)) },
	"decided":       func(_ *harness, a oracle.Answer) string { return listed(consulted(a)) },
	"because":       func(_ *harness, a oracle.Answer) string { return a.Fallbacks[len(a.Fallbacks)-1].Because },
	"loops":         func(_ *harness, a oracle.Answer) string { return listed(loops(a)) },
	"strikes":       func(h *harness, _ oracle.Answer) string { return listed(h.strikes()) },
	"judged":        func(h *harness, _ oracle.Answer) string { return listed(h.judge.asked) },
	"judged times":  func(h *harness, _ oracle.Answer) string { return fmt.Sprint(len(h.judge.asked)) },
	"trace":         func(h *harness, _ oracle.Answer) string { return h.trace() },
	"reached":       func(h *harness, _ oracle.Answer) string { return strings.Join(h.world.called(), " ") },
	"reached times": func(h *harness, _ oracle.Answer) string { return fmt.Sprint(len(h.world.called())) },
	"reached in any order": func(h *harness, _ oracle.Answer) string {
		return strings.Join(slices.Sorted(slices.Values(h.world.called())), " ")
	},
	"written":    func(h *harness, _ oracle.Answer) string { return strings.Join(h.world.written(), " ") },
	"calls made": func(_ *harness, a oracle.Answer) string { return fmt.Sprint(len(a.ToolCalls)) },
	"failed call": func(_ *harness, a oracle.Answer) string {
		return spaced(a.ToolCalls, func(c agent.ToolUse) string { return c.Error })
	},
	"necessary": func(_ *harness, a oracle.Answer) string { // whether the answer rests on each call
		return spaced(a.ToolCalls, func(c agent.ToolUse) string {
			return map[bool]string{true: "yes", false: "no"}[c.Used]
		})
	},
	"cited":       func(_ *harness, a oracle.Answer) string { return strings.Join(cites(a), " ") },
	"unsupported": func(_ *harness, a oracle.Answer) string { return strings.Join(a.Unsupported, " ") },
	"sources": func(_ *harness, a oracle.Answer) string {
		return spaced(a.Sources, func(s agent.Source) string { return s.Cite })
	},
	"signals": func(_ *harness, a oracle.Answer) string {
		return spaced(a.Signals, func(s signal.Signal) string { return string(s.Type) })
	},
	"last signal": func(_ *harness, a oracle.Answer) string { return string(a.Signal.Type) },
	"problems":    func(_ *harness, a oracle.Answer) string { return fmt.Sprint(len(a.Problems)) },
	"notice types": func(_ *harness, a oracle.Answer) string {
		return spaced(a.Notices, func(n agent.Notice) string { return n.Type })
	},
	"tried": func(_ *harness, a oracle.Answer) string {
		return listed(texts(a.Tried, func(t agent.SourceCalls) string {
			return fmt.Sprintf("%s %d calls %d hits %d empty %d opened %d errors",
				t.Source, t.Calls, t.Hits, t.Empty, t.Opened, t.Errors)
		}))
	},
	"error": func(_ *harness, a oracle.Answer) string {
		if a.Error == nil {
			return ""
		}
		return a.Error.Kind + " " + a.Error.Reason
	},
	"budget": func(_ *harness, a oracle.Answer) string {
		if a.Budget == nil {
			return ""
		}
		return fmt.Sprintf("%s %d of %d", a.Budget.Kind, a.Budget.Used, a.Budget.Limit)
	},
	"usage": func(_ *harness, a oracle.Answer) string { return fmt.Sprint(a.Usage.InputTokens, a.Usage.OutputTokens) },
	"writes": func(_ *harness, a oracle.Answer) string {
		w := a.Writes
		return fmt.Sprintf("%d asked %d done %d failed %d refused %d unsure",
			w.Asked, w.Done, w.Failed, w.Refused, w.Unsure)
	},
	"segments": func(h *harness, _ oracle.Answer) string { // of the first prompt
		return strings.Join(h.receipts()[0].Segments, " ")
	},
	"status": func(h *harness, a oracle.Answer) string {
		r, err := h.store.Run(h.t.Context(), owner, a.RunID)
		if err != nil {
			return err.Error()
		}
		return string(r.Status)
	},
}
