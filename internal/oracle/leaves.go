package oracle

import (
	"encoding/json"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/model"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/signal"
	"sibyl/internal/tool"
)

// Given is what a run of the Oracle begins with.
type Given struct {
	Question     string           `port:"question"`
	Previous     []string         `port:"previous,optional"`
	PreviousType string           `port:"previous_type,optional"`
	Tools        []agent.ToolFact `port:"tools"`
	MaxTurns     int              `port:"max_turns"`
	MaxTokens    int              `port:"max_tokens,optional"`
	MaxSeconds   int              `port:"max_seconds,optional"`
	PastTokens   int              `port:"past_tokens,optional"` // of the session's earlier exchanges, estimated
	LastTokens   int              `port:"last_tokens,optional"` // of the last of them, which a topic shift leaves
	Window       int              `port:"window,optional"`      // of the model, in tokens; 0: unknown
	Classifier   bool             `port:"classifier,optional"`  // one is configured
	BareCalls    bool             `port:"bare_calls,optional"`  // the model can't write beside a call
	NoTools      bool             `port:"no_tools,optional"`    // the model can't call tools
	Ledger       agent.Ledger     `port:"ledger,optional"`      // the labels of all that comes before the first turn
	Said         agent.Said       `port:"said,optional"`
	Named        []tool.Source    `port:"named,optional"`  // sources that the person named
	Handed       bool             `port:"handed,optional"` // a text was handed over with the question
}

// treeResult is what the outcome reads from the tree; a run that fails early has none of it.
type treeResult struct {
	Class      classify.Classification `port:"class,optional"`
	Ledger     agent.Ledger            `port:"ledger,optional"`
	Reports    Reports                 `port:"reports,optional"`
	Accepted   Accepted                `port:"accepted,optional"`
	Transcript []agent.Entry           `port:"transcript,optional"`
	TopicShift bool                    `port:"topic_shift,optional"`
	Offered    []string                `port:"offered,optional"`
	Held       []agent.Held            `port:"held,optional"`
}

// Leaves are the Oracle's leaves; the Options say what its trees are given, and what is read from them.
func Leaves() (*bt.Leaves, bt.Options, error) {
	return bt.Declare[Given, treeResult](classifyLeaf(), offerTools(), offerEverything(), agent.RunAllowed(),
		whereToLook(), lookUp(), agent.Budget(), agent.HistoryIsLong(), takeNotes(),
		askModel(), timeIsUp(), agent.NoteCut(), noteReply(), causeOfDoubt(), askClassifier(), decide(), hintFor(),
		agent.Hint(), hintOnce(), signalIs(), accept(),
		agent.HasToolCalls(), agent.Admit(), agent.RunTools(), offerNextSource(), offerCapability(), agent.IsLooping(),
		agent.WithdrawTool())
}

func classifyLeaf() bt.Leaf {
	type in struct {
		Question     string     `port:"question" doc:"the person's words"`
		Previous     []string   `port:"previous,optional" doc:"earlier questions of the session, oldest first"`
		PreviousType string     `port:"previous_type,optional" doc:"type of the last question that was not conversational"`
		Said         agent.Said `port:"said,optional" doc:"how it was said: a yes is of the class of what it goes on with"`
		Handed       bool       `port:"handed,optional" doc:"a text was handed over with it: nothing is to be kept because of that"`
	}
	type out struct {
		Class      classify.Classification `port:"class" doc:"type, sources needed, confidence"`
		TopicShift bool                    `port:"topic_shift" doc:"the question leaves the subject of those before"`
		Events     []bt.Typed              `port:",events"`
	}
	return bt.Func("Classify", "Determines the type of the question (FR-015).", func(i in, o *out) error {
		if i.Said.For != "" {
			i.Question = i.Said.For
		}
		o.Class = classify.Classify(classify.Query{Text: i.Question, Previous: i.Previous,
			PreviousType: classify.Type(i.PreviousType), Piped: i.Said.Piped, Handed: i.Handed})
		o.TopicShift = i.Said.For == "" && len(i.Previous) > 0 && classify.TopicShift(i.Previous, i.Question)
		o.Events = []bt.Typed{ClassChosen{o.Class.QueryType, o.Class.Confidence, o.Class.KeywordsMatched, o.TopicShift}}
		return nil
	})
}

func accept() bt.Leaf {
	type in struct {
		Reply       agent.Reply `port:"reply"`
		Report      Report      `port:"report"`
		Reports     Reports     `port:"reports"`
		StopReason  string      `port:"stop_reason" oneof:"satisfied partial budget stuck loop needs_user" doc:"why the run ends"`
		UnsureBelow float64     `port:"unsure_below" default:"0.3" between:"0 1" doc:"the person is told of a confidence below it"`
	}
	type out struct {
		Accepted Accepted     `port:"accepted" doc:"the reply that is the answer"`
		Ledger   agent.Ledger `port:"ledger"`
		Done     bool         `port:"done"`
		Events   []bt.Typed   `port:",events"`
	}
	return bt.Func("Accept", "Makes the best text the answer and ends the loop.", func(i in, o *out) error {
		if s := i.Report.Signal; i.StopReason == StopSatisfied && s != nil && s.Type == signal.Stuck {
			i.StopReason = StopStuck // it said that it had enough, and has not
		}
		o.Accepted, o.Done = Accepted{Ref: i.Reply.Ref, StopReason: i.StopReason}, true
		if best := i.Reports.Best; best.Ref != 0 && best.Ref != i.Reply.Ref && i.StopReason != StopNeedsUser {
			o.Accepted.Ref, o.Accepted.Also, o.Accepted.By = best.Ref, best.Also, i.Reply.Ref
		}
		o.Events = []bt.Typed{AnswerAccepted{i.StopReason, i.Report.Signal == nil, o.Accepted.By != 0}}
		o.Ledger = o.Ledger.Clone()
		switch s := i.Report.Signal; {
		case s == nil:
			o.Ledger.Notice(NoticeMissing, agent.Info, nil, bt.Because("The answer came without a signal."))
		case s.Confidence < i.UnsureBelow:
			o.Ledger.Notice(NoticeUnsure, agent.Warning, agent.Pairs("confidence", s.Confidence),
				notSure.With(s.Confidence))
		}
		o.Ledger.TellExhausted(map[bool]agent.Severity{true: agent.Info,
			false: agent.Warning}[i.StopReason == StopSatisfied])
		return nil
	})
}

func timeIsUp() bt.Leaf {
	type in struct {
		Now        int64   `port:",now"`
		MaxSeconds int     `port:"max_seconds" doc:"the budget of time that was used up"`
		Reports    Reports `port:"reports,optional"`
	}
	type out struct {
		Accepted Accepted     `port:"accepted"`
		Ledger   agent.Ledger `port:"ledger"`
		Done     bool         `port:"done"`
	}
	return bt.Func("TimeIsUp",
		"Ends the run without a reply: the answer is the best text so far or, if there is none, what was tried and read.",
		func(i in, o *out) error {
			o.Ledger = o.Ledger.Clone()
			o.Ledger.TimeIsUp(i.Now, i.MaxSeconds)
			o.Accepted, o.Done = Accepted{StopReason: StopBudget}, true
			if best := i.Reports.Best; !best.Words.Announces {
				o.Accepted.Ref, o.Accepted.Also = best.Ref, best.Also
			}
			return nil
		})
}

// TurnSituation is what the prompt of a turn depends on, besides its history and its tools.
type TurnSituation struct {
	Class      classify.Type `json:"class"`
	TopicShift bool          `json:"topic_shift,omitempty"`
	Unsure     bool          `json:"unsure,omitempty"` // of the class
	Sure       bool          `json:"sure,omitempty"`   // no other source is likely
	LookUp     *LookUp       `json:"look_up,omitempty"`
	General    bool          `json:"general,omitempty"` // the answer is more likely in the model than in the person's sources
}

func situationOf(c classify.Classification, topicShift bool) TurnSituation {
	return TurnSituation{Class: c.QueryType, TopicShift: topicShift, Unsure: isUnsure(c), Sure: len(Sources(c)) == 1}
}

// The probability from which a class is sure. For a change it is higher, as nothing is looked up then.
const (
	sureClass  = 0.5
	sureChange = 0.9
)

func isUnsure(c classify.Classification) bool {
	sure := sureClass
	if c.QueryType == classify.Action {
		sure = sureChange
	}
	return c.Probabilities[c.QueryType] < sure
}

func (s TurnSituation) encode() json.RawMessage {
	raw, _ := json.Marshal(s) // texts and flags always encode
	return raw
}

func askModel() bt.Leaf {
	type in struct {
		Class      classify.Classification `port:"class"`
		Offered    []string                `port:"offered" doc:"names of the tools offered"`
		Turn       int                     `port:"turn"`
		MaxTurns   int                     `port:"max_turns"`
		Last       bool                    `port:"last" doc:"no turn follows: tools are withdrawn"`
		Withdrawn  bool                    `port:"withdrawn" doc:"tools are withdrawn"`
		TopicShift bool                    `port:"topic_shift"`
		Tools      []agent.ToolFact        `port:"tools"`
		Ledger     agent.Ledger            `port:"ledger,optional"`
		Transcript []agent.Entry           `port:"transcript,optional"`
		NoTools    bool                    `port:"no_tools,optional" doc:"the model can't call tools: it is told of none"`
		Reports    Reports                 `port:"reports,optional"`
		LastHint   string                  `port:"last_hint,optional" doc:"what the model is told in the last turn"`
		Most       int                     `port:"most_tokens,optional" doc:"of the request; results of tools are cut for it; 0: as the window allows"`
	}
	type out struct {
		Reply  agent.Reply `port:"reply" doc:"what came back"`
		Report Report      `port:"report" doc:"its signal and its words"`
		Fault  string      `port:"fault" doc:"the kind of failure, if it failed"`
		Fit    int         `port:"fit" doc:"of a request that did not fit: half of its tokens"`
		Events []bt.Typed  `port:",events"`
	}
	plan := func(i in) ([]bt.Request, error) {
		p := agent.TurnPayload{Offered: i.Offered, Turn: i.Turn, MaxTurns: i.MaxTurns, Last: i.Last,
			Withdrawn: i.Withdrawn, NoTools: i.NoTools, Fit: i.Most, Labels: i.Ledger.Labels}
		situation := situationOf(i.Class, i.TopicShift)
		situation.General = ownPart(i.Class) < likelyHere
		p.Situation = situation.encode()
		p.SetTranscript(i.Transcript)
		if i.Last {
			p.LastHint = i.LastHint
		}
		return []bt.Request{agent.AskTurn(p)}, nil
	}
	collect := func(i in, done []bt.Completion, o *out) (err error) {
		o.Fault = ""
		if f := done[0].Err; f != nil {
			o.Fault = f.Kind
			if r, err := bt.ResultOf[agent.TurnReceipt[Heard]](done[0]); err == nil {
				o.Fit = model.Shorter(r.Sent())
			}
			return f
		}
		var r agent.TurnReceipt[Heard]
		if r, o.Reply, err = agent.ReadTurn[Heard](done[0], i.Tools); err != nil {
			return err
		}
		o.Report = reportOf(r)
		event := TurnTaken{Turn: i.Turn, MaxTurns: i.MaxTurns, Calls: len(r.Calls), Bytes: len(r.Text), Model: r.Model,
			Attempts: r.Attempts, TookMS: done[0].Took}
		if r.Reported != nil {
			event.Reported, event.Counted = *r.Reported, r.Usage
		}
		if r.Report.Signal != nil {
			event.Signal = r.Report.Signal.Type
		}
		o.Events = agent.WithNotOwn([]bt.Typed{event}, r.Report.NotOwn)
		return nil
	}
	return bt.Task("AskModel", "Asks the model for one turn.", plan, collect)
}

func takeNotes() bt.Leaf {
	type in struct {
		Class      classify.Classification `port:"class"`
		Turn       int                     `port:"turn"`
		MaxTurns   int                     `port:"max_turns"`
		TopicShift bool                    `port:"topic_shift"`
		Past       int                     `port:"past_tokens,optional"`
		Seen       agent.Ledger            `port:"ledger,optional"`
		Transcript []agent.Entry           `port:"transcript,optional"`
		Ask        string                  `port:"ask" doc:"what the model is asked for"`
	}
	type out struct {
		Ledger     agent.Ledger  `port:"ledger"`
		Transcript []agent.Entry `port:"transcript"`
		Events     []bt.Typed    `port:",events"`
	}
	plan := func(i in) ([]bt.Request, error) {
		return agent.AskNotes(agent.TurnPayload{Turn: i.Turn, MaxTurns: i.MaxTurns, LastHint: i.Ask,
			Labels:    i.Seen.Labels,
			Situation: TurnSituation{Class: i.Class.QueryType, TopicShift: i.TopicShift}.encode()},
			i.Transcript, i.Past > 0)
	}
	collect := func(i in, done []bt.Completion, o *out) error {
		transcript, taken, err := agent.ReplaceByNotes[Heard](done[0], &o.Ledger, i.Transcript)
		if err == nil {
			o.Transcript, o.Events = transcript, []bt.Typed{taken}
		}
		return err
	}
	return bt.Task("TakeNotes",
		"Asks the model for notes, which from then on replace the earlier exchanges and all but the last turns.", plan,
		collect)
}
