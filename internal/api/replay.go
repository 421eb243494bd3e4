package api

import (
	"cmp"
	"context"
	"errors"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/run"
	"sibyl/internal/run/replay"
	"sibyl/internal/server/user"
	"sibyl/internal/service"
)

// Replaying is the body of a request to replay a run: the tree that decides.
type Replaying struct {
	Tree      string `json:"tree" minLength:"1" doc:"The XML of the tree that decides."`
	PastFirst bool   `json:"past_first,omitempty" doc:"Go on behind the first difference, while the decisions are the same."`
}

// ReplayingAll is the body of a request to replay past runs through a tree.
type ReplayingAll struct {
	Assistant string `json:"assistant" minLength:"1" maxLength:"64"`
	Tree      string `json:"tree" minLength:"1" doc:"The XML of the tree that decides."`
	Limit     int    `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"200" doc:"How many of the latest runs at most."`
}

// Replay is the result of a replay.
type Replay struct {
	Run         string             `json:"run"`
	Same        bool               `json:"same" doc:"All is decided as recorded."`
	OwnTree     bool               `json:"own_tree" doc:"It is the tree that the run began with."`
	Steps       int                `json:"steps" doc:"That were replayed."`
	Reached     replay.Reach       `json:"reached" enum:"end,stop,open,difference,cut" doc:"Where it ended: at the end of the tree, where the run was stopped or has come to, at the first difference, or where the records have no answer."`
	Why         string             `json:"why,omitempty" doc:"Why it ended there, where its tree does not say."`
	Wrong       []string           `json:"wrong" doc:"Why the tree does not load. Nothing is replayed then, and nothing else is told."`
	Differences []ReplayDifference `json:"differences"`
}

// ReplayDifference is a step that decides differently from the recorded one, or an end with another outcome.
type ReplayDifference struct {
	Kind      replay.DifferenceKind `json:"kind" enum:"decision,request,sending,outcome" doc:"The gravest of what it lists: other effects or another end; the same effects asked otherwise; sent with something else; another result."`
	Step      int                   `json:"step,omitempty" doc:"In the explanation, counted from 1. Left out: the recorded run has no such step."`
	Missing   []string              `json:"missing" doc:"Asked for by the recorded run only."`
	Extra     []string              `json:"extra" doc:"Asked for by the replay only."`
	Kept      []string              `json:"kept" doc:"Withdrawn by the recorded run only."`
	Withdrawn []string              `json:"withdrawn" doc:"Withdrawn by the replay only."`
	Changes   []ReplayChange        `json:"changes" doc:"Of what is asked for in both, of what is sent, and of the outcome."`
	Ending    *ReplayEnding         `json:"ending,omitempty" doc:"Only one of the two goes on, or both end otherwise."`
	Was       []service.Event       `json:"was" doc:"What happened in the recorded step, from where the two part."`
	Would     []service.Event       `json:"would" doc:"What happens in the replay, from there."`
}

// ReplayChange is a place where something differs. What does not exist is empty.
type ReplayChange struct {
	Where string `json:"where"`
	Was   string `json:"was"`
	Would string `json:"would"`
}

// ReplayEnding is how two steps end.
type ReplayEnding struct {
	Was   string `json:"was"`
	Would string `json:"would"`
	Why   string `json:"why,omitempty"`
}

// ReplayHistory is what a changed tree would have decided in many runs.
type ReplayHistory struct {
	replay.History
	Unfit int      `json:"unfit" doc:"That can't be held against the tree."`
	Wrong []string `json:"wrong" doc:"Why the tree does not load. Nothing is replayed then."`
}

const (
	replayTime   = 20 * time.Second // of one request
	mostShown    = 200              // of the events and changes of a difference, and of what is wrong with a tree
	usualRuns    = 200              // runs that are replayed, unless a limit is given
	treeFileName = "tree.xml"       // names the tree in what is wrong with it
)

func (s *Server) replayRoutes() {
	const tag = "runs"
	registerForm(s, route{id: "replayRun", at: "POST /api/runs/{run}/replay", tag: tag, needs: user.Read, whole: true,
		summary: "Take a run through another tree: nothing is performed or kept"}, s.replayRun)
	registerForm(s, route{id: "replayRuns", at: "POST /api/replay", tag: tag, needs: user.Read, whole: true,
		summary: "Take past runs through another tree, and say where they would decide otherwise"}, s.replayRuns)
}

func (s *Server) replayRun(ctx context.Context, in *struct {
	RunPath
	Body Replaying
}) (f Replay, err error) {
	r, err := s.findRun(ctx, in.Run)
	if err != nil {
		return f, err
	}
	ctx, cancel := context.WithTimeout(ctx, replayTime)
	defer cancel()
	found, err := s.config.Service.Replay(ctx, r.Owner, r.ID, replay.Options{TreeFile: treeFileName,
		Tree: []byte(in.Body.Tree), PastFirst: in.Body.PastFirst})
	if wrong := loadProblems(err); wrong != nil {
		return Replay{Run: r.ID, Wrong: wrong, Reached: replay.ReachedCut}, nil
	}
	if err != nil {
		return f, err
	}
	words := s.config.Service.Words(r.Assistant)
	return Replay{Run: r.ID, Same: len(found.Differences) == 0, OwnTree: found.OwnTree, Steps: found.Steps,
		Reached: found.Reached, Why: found.Why,
		Differences: toForms(found.Differences, func(d replay.Difference) ReplayDifference {
			return differenceForm(d, words)
		})}, nil
}

// loadProblems says why a tree does not load; nil if the error is another one.
func loadProblems(err error) (wrong []string) {
	broken, ok := errors.AsType[*bt.LoadError](err)
	if !ok {
		return nil
	}
	return toForms(broken.Problems[:min(len(broken.Problems), mostShown)], bt.Problem.String)
}

func differenceForm(d replay.Difference, words run.Vocabulary) ReplayDifference {
	f := ReplayDifference{Kind: d.Kind, Step: d.Step, Missing: requestNames(d.Missing), Extra: requestNames(d.Extra),
		Kept: requestNames(d.Kept), Withdrawn: requestNames(d.Withdrawn)}
	for _, r := range d.Requests {
		for _, c := range r.Changes {
			f.Changes = append(f.Changes, ReplayChange{r.Would.Name() + ": " + c.Path, c.Was, c.Would})
		}
	}
	for _, sent := range d.Sent {
		for _, p := range sent.Parts {
			f.Changes = append(f.Changes, ReplayChange{Where: sent.Request.Name() + ": " + p.Kind + " " + p.Name + " " +
				string(p.Change)})
		}
	}
	for _, c := range d.Outcome {
		f.Changes = append(f.Changes, ReplayChange{c.Path, c.Was, c.Would})
	}
	f.Changes = f.Changes[:min(len(f.Changes), mostShown)]
	if e := d.Ending; e != nil {
		f.Ending = &ReplayEnding{Was: e.Was, Would: e.Would}
		if e.Reason != nil {
			f.Ending.Why = e.Reason.Reason
		}
	}
	if t := d.Trace; t != nil {
		f.Was, f.Would = eventsInWords(t.Was[t.Same:], words), eventsInWords(t.Would[t.Same:], words)
	}
	return f
}

func requestNames(asked []replay.Asked) []string { return toForms(asked, replay.Asked.Name) }

func eventsInWords(events []run.TraceEvent, words run.Vocabulary) []service.Event {
	return service.TellEvents(events[:min(len(events), mostShown)], words)
}

func (s *Server) replayRuns(ctx context.Context, in *struct{ Body ReplayingAll }) (f ReplayHistory, err error) {
	past := service.ReplayFilter{Assistant: in.Body.Assistant, Most: cmp.Or(in.Body.Limit, usualRuns), Within: replayTime}
	h, err := s.config.Service.ReplayAll(ctx, ownerOf(ctx), past, replay.Options{TreeFile: treeFileName,
		Tree: []byte(in.Body.Tree)})
	f = ReplayHistory{History: h, Unfit: len(h.Unfit), Wrong: loadProblems(err)}
	if f.Wrong != nil {
		err = nil
	}
	return f, err
}
