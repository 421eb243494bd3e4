package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/oracle/prompt"
	"sibyl/internal/run"
	"sibyl/internal/schema"
	"sibyl/internal/service/assistant"
	"sibyl/internal/text"
	"sibyl/internal/tool"
)

// Surroundings is what it takes to begin a question.
type Surroundings struct {
	Store  run.History
	Choose func(ctx context.Context, asked string) (model string, err error)
	// Known returns what is known of a model, without waiting for its provider; Describe asks it if need be. Zero fields
	// are not known.
	Known, Describe func(ctx context.Context, model string) model.Info

	// Contract returns what was found of a model, and About says it in words; nil: nothing is.
	Contract func(model string) model.Contract
	About    func(model string) string
	// ReportForm is how a setting wants a model to report; "": none does.
	ReportForm func(model string) model.ReportForm

	LearnKeys func(ctx context.Context, env Env)
	Tools     func(ctx context.Context, env Env) (*tool.Set, func(), error)
	// servers whose tools are not available now, each with the reason; nil: there are none
	LeftOut func() []bt.Why
	// Guide reads SIBYL.md of a folder; ErrNoGuide if there is none. nil: nobody reads it.
	Guide      func(ctx context.Context, folder string) (string, error)
	Prompts    func() (*prompt.Set, error) // as they are when a run begins, which keeps them
	Classifier bool                        // one is configured for the fallback
	Web        bool                        // a search engine is configured
	Fallback   []string                    // models that answer where the chosen one does not
	Retention  time.Duration
}

// Describe describes the assistant: how its runs begin, and how they are shown, explained and audited.
func Describe(a *run.Assistant, s Surroundings) *assistant.Assistant {
	return &assistant.Assistant{
		Assistant: a, About: "answers questions about your code, your notes and the web", Tree: Name,
		Retention: s.Retention, Retakes: true,
		Options: schema.Of[Options](), Begin: assistant.BeginWith(s.Begin),
		Setup: func(ctx context.Context, owner journal.Owner, session, of string) (assistant.Setup, error) {
			return setupOf(ctx, s.Store, owner, session, of)
		},
		Tool: &assistant.Tool{Name: "ask", Title: "Ask the Oracle", Words: "question", Waits: true,
			Description: "Answers a question over code, notes and the web, with its sources. It may take minutes."},
		Events: Events(), Reasons: allReasons(), Show: showAnswer, Begun: begunStory, Places: shownPlaces,
		Passages: shownPassages, Effect: effectDetail, Left: sentOut,
		Audit: signalFindings, ShowEffect: showEffect,
		Texts: func(folder string) func(ctx context.Context, v *run.View) ([]run.Text, error) {
			return ChangedPrompts(os.DirFS(folder))
		}}
}

func showAnswer(outcome json.RawMessage) (assistant.Shown, error) {
	a, err := ReadAnswer(outcome)
	if err != nil {
		return assistant.Shown{}, err
	}
	s := assistant.Shown{Question: a.Question, Answer: a.Answer, Partial: a.Partial() || a.StopReason == StopNeedsUser,
		Footer: a.footer(), Ending: a.endingLines(),
		Came: a.endingStory(), Usage: a.usage(), Files: a.Files, Acted: a.acted(), Allowed: a.Allowed}
	s.Waiting, s.Calls, s.Citations = a.waitingCalls(), a.shownCalls(), a.shownCitations()
	s.Asks = a.Asked || a.StopReason == StopNeedsUser && len(a.Waiting) == 0
	for _, why := range slices.Concat(a.reasons(), a.warnings()) {
		s.Warn(why)
	}
	for _, n := range a.Notices {
		s.Notices = append(s.Notices, n)
	}
	cited, also := a.placesRead()
	s.Sources = cited
	if len(also) > 0 {
		s.Note(assistant.Clause{{Format: "also read: %s", Values: []any{strings.Join(also, ", ")}}})
	}
	s.Note(a.work()...)
	switch {
	case a.Error == nil:
	case a.StopReason == StopRefused:
		s.Failure = a.failure(StopRefused, "the model refused: %s")
	case a.StopReason == StopSuspended:
		s.Failure = a.failure(a.Error.Kind, "no answer yet: %s", assistant.Clause{
			{Format: "nothing is lost: ‘sibyl run resume %s’ continues from here", Values: []any{a.RunID}}})
	case a.StopReason == StopError:
		s.Failure = a.failure(a.Error.Kind, "no answer: %s")
	}
	return s, nil
}

// failure is why there is no answer: the reason of the error in a format, and what would help, with what is before
// that.
func (a *Answer) failure(kind, format string, help ...assistant.Clause) *assistant.Failure {
	if remedy := Remedy(model.Kind(a.Error.Kind)); remedy != "" && kind != StopRefused {
		help = append(help, assistant.Clause{{Format: remedy}})
	}
	return assistant.NewFailure(kind, assistant.Line{{{Format: format, Values: []any{a.Error.Reason}}}}, help)
}

// Remedy says what would help against a failure of the model.
func Remedy(k model.Kind) string {
	return map[model.Kind]string{
		model.Auth:      "‘sibyl config test’ shows which key is wrong, ‘sibyl config set-key NAME’ stores another",
		model.RateLimit: "wait a while, or ask another model with -m",
		model.ContextLength: "ask for less at a time, use a model with a larger context window, or, if the settings " +
			"give its window, correct it (window, ollama.context)",
		model.Overloaded: "the provider is overloaded: wait a while, or ask another model with -m",
		model.Payment:    "add credit at the provider, or ask another model with -m",
		model.OutputLength: "ask for less at a time, reduce thinking (think), or allow a " +
			"longer answer (max_output in the settings)",
		model.Timeout: "try again, or allow more time with timeouts.start and timeouts.silence (local_start, " +
			"local_silence) in the settings",
		model.Server: "try again, or check with ‘sibyl doctor’ what responds",
		model.Garbled: "try again; if it keeps failing, check the provider's " +
			"address and kind: it may speak another protocol",
		model.Repeated: "ask again in other words, or ask a larger model with -m",
		model.Invalid:  "‘sibyl models’ lists the available models",
	}[k]
}

func (a *Answer) endingLines() []string {
	first := fmt.Sprintf("%s after %s of %d, %s, %s", a.endingPhrase(), text.Count(a.Turns, "turn"), a.MaxTurns,
		text.Count(len(a.ToolCalls), "tool call"), a.Model)
	if a.Budget != nil {
		first += "; the budget: " + a.Budget.String()
	}
	all := append([]string{first}, textsOf(a.reasons())...)
	for _, f := range a.Fallbacks {
		all = append(all, fmt.Sprintf("fallback in turn %d: %s, so %s (%s)", f.Turn, f.Cause, f.Verdict, f.By))
	}
	for _, s := range a.Sources {
		how := "read"
		if s.Cited {
			how = "cited"
		}
		all = append(all, fmt.Sprintf("%-5s %s", how, s.Cite))
	}
	return all
}

// waitingCalls are the calls that wait for the person's approval.
func (a *Answer) waitingCalls() (all []assistant.Waiting) {
	for n, w := range a.Waiting {
		one := waitingCall(w)
		one.Yes = fmt.Sprintf("yes %d", n+1)
		all = append(all, one)
	}
	return all
}

// shownCalls are the calls of the run as people see them.
func (a *Answer) shownCalls() (all []assistant.Call) {
	for _, c := range a.ToolCalls {
		target, _ := agent.Waiting{Arguments: c.Arguments}.Shown()
		all = append(all, assistant.Call{Tool: c.Name, Target: text.Brief(target, maxTarget), Items: c.Items,
			TookMS: c.TookMS, Failed: c.Error != "", Refused: c.Refused != ""})
	}
	return all
}

// maxTarget is how much of the target of a call is shown, in characters.
const maxTarget = 120

func waitingCall(w agent.Waiting) assistant.Waiting {
	target, others := w.Shown()
	shown := assistant.Waiting{Call: w.Tool, Target: target, Arguments: []assistant.Argument{}, Why: w.Why,
		Writes: w.Write, Change: w.Change}
	for _, o := range others {
		shown.Arguments = append(shown.Arguments, assistant.Argument(o))
	}
	return shown
}

func (a *Answer) footer() string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "*%s, %s after %s, %s*\n", a.QueryType, a.endingPhrase(), text.Count(a.Turns, "turn"), a.Model)
	if a.Error != nil {
		fmt.Fprintf(b, "\n%s\n", a.Error.Reason)
	}
	var waiting []string
	for _, w := range a.waitingCalls() {
		waiting = append(waiting, "It waited for a yes: "+w.String())
	}
	if beside := slices.Concat(textsOf(a.reasons()), waiting, textsOf(a.warnings())); len(beside) > 0 {
		b.WriteString("\n")
		for _, line := range beside {
			fmt.Fprintf(b, "- %s\n", line)
		}
	}
	if len(a.Sources) > 0 {
		b.WriteString("\nRead:\n\n")
		for _, s := range a.Sources {
			fmt.Fprintf(b, "- `%s`\n", s.Cite)
		}
	}
	if len(a.Signals) > 0 {
		b.WriteString("\nSignals:\n\n")
		for _, s := range a.Signals {
			fmt.Fprintf(b, "- %s (%.2f)\n", s.Type, s.Confidence)
		}
	}
	return b.String()
}

// auditDetail is what an audit shows of an effect besides its receipt.
type auditDetail struct {
	Arguments string `json:"arguments,omitempty"` // of a call of a tool
	Model     string `json:"model,omitempty"`     // that answered
	Attempts  int    `json:"attempts,omitempty"`  // at asking it
	Prompt    string `json:"prompt,omitempty"`    // hash of the system prompt
}

func (d auditDetail) String() string {
	var all []string
	if d.Model != "" {
		all = append(all, d.Model)
	}
	if d.Attempts > 1 {
		all = append(all, fmt.Sprintf("%d attempts", d.Attempts))
	}
	return strings.Join(all, ", ")
}

func effectDetail(c *run.CompletionRecord) any {
	var d auditDetail
	_ = json.Unmarshal(c.Result, &d) // other kinds of effect have other results, and a failed one has none
	if d == (auditDetail{}) {
		return nil
	}
	return d
}

func signalFindings(bodies []any, steps []run.TraceStep) assistant.Findings {
	f := assistant.Findings{Name: "signals"}
	signals := AuditSignals(bodies, steps)
	for _, s := range signals {
		var what, raw string
		switch {
		case s.Malformed != nil:
			what, raw = "no valid signal", s.Malformed.Raw
		case s.Mention != nil:
			what, raw = "a quoted signal", s.Mention.Raw
		default:
			what, raw = fmt.Sprintf("%s (%.2f)", s.Signal.Type, s.Signal.Confidence), s.Signal.RawXML
		}
		f.Text = append(f.Text, assistant.Finding{Line: fmt.Sprintf("turn %d, record %d: %s, %s: %s", s.Turn, s.Record,
			what, s.Fate, s.Why), By: s.Rule, Quoted: raw})
	}
	f.Items = signals
	return f
}

// ShadowOf are the options of a shadow: the run that it is compared with.
type ShadowOf struct {
	Run  string
	Spec run.Spec
}

// DescribeShadow describes the assistant that answers as a shadow.
func DescribeShadow(of *assistant.Assistant) *assistant.Assistant {
	shadow := *of
	shadow.Assistant, shadow.Tree, shadow.Companion = Shadow(of.Assistant), ShadowTree, true
	shadow.Options, shadow.Tool = nil, nil
	shadow.About = "answers the Oracle's questions with a plain loop, for comparison"
	shadow.Begin = assistant.BeginWith(func(_ context.Context, _ assistant.Request, o ShadowOf) (run.Spec, error) {
		return NewShadow(o.Spec, o.Run)
	})
	return &shadow
}
