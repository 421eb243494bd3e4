package oracle_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"sibyl/internal/model"
	"sibyl/internal/oracle"
	"sibyl/internal/tool"
)

// standIn is a model that answers in another one's place.
type standIn struct{ model.Model }

func (s standIn) Chat(ctx context.Context, req model.Request, emit func(model.Delta) error) (model.Response, error) {
	resp, err := s.Model.Chat(ctx, req, emit)
	resp.Model = "local:small"
	resp.Tries = []model.Try{{Model: "cloud:big", Kind: model.RateLimit, Message: "slow down"}}
	return resp, err
}

// picky is a model whose provider refuses the schema of a tool.
type picky struct {
	model.Model
	tool string
}

func (p picky) Chat(ctx context.Context, req model.Request, emit func(model.Delta) error) (model.Response, error) {
	resp, err := p.Model.Chat(ctx, req, emit)
	resp.LeftOut = []string{p.tool}
	return resp, err
}

// worlds change the world before a question.
var worlds = map[string]func(h *harness, rest string){
	"turns at most":   func(h *harness, rest string) { h.turns = number(rest) },
	"tokens at most":  func(h *harness, rest string) { h.maxTokens = number(rest) },
	"seconds at most": func(h *harness, rest string) { h.maxTime = time.Duration(number(rest)) * time.Second },
	"a window of":     func(h *harness, rest string) { h.env.WindowTokens = number(rest) },
	"bare calls":      func(h *harness, _ string) { h.env.BareCalls = true },
	"calls no tools":  func(h *harness, _ string) { h.env.NoTools = true },
	"reports by tool": func(h *harness, _ string) { h.env.ReportTool = true },
	"no web search": func(h *harness, _ string) {
		h.env.Web = false
		h.world.removeTools("web_search")
	},
	"no folder of notes": func(h *harness, _ string) { h.env.Vault = "" },
	"left out": func(h *harness, rest string) {
		h.env.LeftOut = append(h.env.LeftOut, oracle.ServerFailed.With(rest, oracle.ServerSilent.With()))
	},
	"without":   func(h *harness, rest string) { h.world.removeTools(strings.Fields(rest)...) },
	"only code": func(h *harness, _ string) { h.onlyCode() },
	"nothing to read": func(h *harness, _ string) {
		h.onlyCode()
		h.world.removeTools("code_read", "code_search")
	},
	"finds nothing": func(h *harness, rest string) {
		for name := range strings.FieldsSeq(rest) {
			h.world.replaceTool(name, finds())
		}
	},
	"gives": func(h *harness, rest string) { // a tool, and the text that it opens
		name, text, _ := strings.Cut(rest, " ")
		h.world.replaceTool(name, opens(h.world.tools[name].Spec().Source, text))
	},
	"fails with": func(h *harness, rest string) { // a tool, the kind of its error, and what it says
		part := strings.SplitN(rest, " ", 3)
		h.world.replaceTool(part[0], fails(tool.Kind(part[1]), "", part[2]))
	},
	"fails once": func(h *harness, rest string) { // with the hint to ask for less
		part := strings.SplitN(rest, " ", 3)
		works, failed := func(tool.Call) (tool.Result, error) { return wrote, nil }, false
		if f, reads := h.world.tools[part[0]].(*fake); reads {
			works = f.do
		}
		h.world.replaceTool(part[0], func(c tool.Call) (tool.Result, error) {
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
		h.world.replaceTool(name, finds(tool.Ref{Source: h.world.tools[name].Spec().Source, Path: path,
			Start: number(from), End: number(to)}))
	},
	"finds a page": func(h *harness, rest string) {
		name, address, _ := strings.Cut(rest, " ")
		h.world.replaceTool(name, finds(tool.Ref{Source: tool.Web, URL: address}))
	},
	"folders":     func(h *harness, rest string) { h.env.CodeRoot, h.env.Vault, _ = strings.Cut(rest, " ") },
	"handed over": func(h *harness, rest string) { h.material = rest },
	"a clock that stands still": func(h *harness, _ string) {
		h.clock = newHandClock()
		h.engine = h.newEngine(h.store, "test", h.clock)
	},
	"opens something else three times": func(h *harness, rest string) {
		n := 0
		h.world.replaceTool(rest, func(c tool.Call) (tool.Result, error) {
			n = min(n+1, 3)
			return opens(tool.Code, fmt.Sprintf("%d tests passed", n))(c)
		})
	},
	// with the number of the call for # in the message, and its word for @
	"fails each time": func(h *harness, rest string) {
		name, message, _ := strings.Cut(rest, " ")
		n := 0
		h.world.replaceTool(name, func(tool.Call) (tool.Result, error) {
			n++
			return tool.Result{}, tool.Errorf(tool.Failed, "", "%s", strings.NewReplacer("#", fmt.Sprint(n), "@",
				spelled[n]).Replace(message))
		})
	},
	"finds something else each time": func(h *harness, rest string) {
		n := 0
		h.world.replaceTool(rest, func(c tool.Call) (tool.Result, error) {
			n++
			return finds(tool.Ref{Source: tool.Code, Path: spelled[n] + ".go", Start: 1})(c)
		})
	},
	"read-only": func(h *harness, rest string) { // notes that can't be written
		h.world.replaceTool("vault_write", refusing(strings.Fields(rest)...))
	},
	"in doubt": func(h *harness, rest string) { // a note of which nobody can tell whether it was written
		h.world.replaceTool("vault_write", func(c tool.Call) (tool.Result, error) {
			if strings.Contains(string(c.Args), rest) {
				panic("the disk is gone")
			}
			return wrote, nil
		})
	},
	"breaks down": func(h *harness, rest string) {
		h.world.replaceTool(rest, func(tool.Call) (tool.Result, error) { panic("index out of range") })
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
	"the provider refuses":   func(h *harness, rest string) { h.model = picky{h.script, rest} },
	"code has":               func(h *harness, rest string) { h.env.CodeRoot = h.keep("code", rest) },
	"notes have":             func(h *harness, rest string) { h.env.Vault = h.keep("notes", rest) },
	"with real tools":        func(h *harness, _ string) { h.realTools() },
	"without a model":        func(h *harness, _ string) { h.offline() },
	"another session":        func(h *harness, rest string) { h.openSession(rest) },
}
