package api

import (
	"context"
	"net/http"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/service"
)

// Tree is a behaviour tree, its nodes depth first: the first is the root.
type Tree struct {
	ID    string     `json:"id" doc:"Of the main tree."`
	Text  string     `json:"text" doc:"The file."`
	Nodes []TreeNode `json:"nodes"`
}

// TreeNode is one node of a tree, subtrees included.
type TreeNode struct {
	Node   int32    `json:"node" doc:"Its number, as events have it: its place in the list, from 0."`
	Parent int32    `json:"parent" doc:"The number of the node that it lies in; -1 for the root."`
	Type   string   `json:"type" doc:"Sequence, SubTree, or that of a leaf."`
	Name   string   `json:"name,omitempty" doc:"The name that the file gives it; of a SubTree the id of its tree."`
	Rule   string   `json:"rule" doc:"Where it is, by what cannot be renamed. Nodes may share it."`
	Leaf   bool     `json:"leaf" doc:"It decides or does something by itself."`
	Says   []string `json:"says" doc:"What the file decides there: numbers, conditions, constants."`
}

// Receipt is an effect with what it sent and what came back.
type Receipt struct {
	Effect
	Record  int64     `json:"record" doc:"The number of the record that holds it."`
	At      time.Time `json:"at"`
	TookMS  int64     `json:"took_ms"`
	Found   bool      `json:"found" doc:"It was performed before a crash, and found afterwards."`
	Failure string    `json:"failure,omitempty" doc:"Why it failed. Left out: it did not."`
	To      string    `json:"to,omitempty" doc:"The model that answered, or the tool."`
	Sent    []Part    `json:"sent" doc:"In the order in which it was sent."`
	Got     []Part    `json:"got" doc:"What came back."`
	LeftOut []string  `json:"left_out" doc:"What was left out of the prompt, each with the reason."`
	Changed bool      `json:"changed" doc:"This build of the server composes another prompt than the one that was sent: it is that other one that is told."`
	Lost    bool      `json:"lost" doc:"What was sent can't be composed any more; what the record has of it is told."`
	Used    *Tokens   `json:"used,omitempty" doc:"What the model took. Left out: none was asked, or its provider does not count."`
}

// Part is a part of what was sent, or of what came back.
type Part struct {
	Kind   string `json:"kind" enum:"segment,tool,person,control,model,call,result,data" doc:"A segment of the system prompt, a tool that is offered, what the person, the control layer or the model said, a call, what it gave, or JSON."`
	Name   string `json:"name,omitempty" doc:"Of the segment or the tool."`
	Text   string `json:"text" doc:"Of a long part, the beginning."`
	Bytes  int    `json:"bytes" doc:"Of the whole."`
	Tokens int    `json:"tokens,omitempty" doc:"Estimated."`
}

// RecordPath is in the address of whatever is about a record of a run.
type RecordPath struct {
	RunPath
	Record int64 `path:"record" minimum:"0" doc:"The number of the record."`
}

func (s *Server) whyRoutes() {
	const one, tag = "/api/runs/{run}", "runs"
	register(s, route{id: "treeOfRun", method: http.MethodGet, path: one + "/tree", tag: tag, summary: "The tree that decides in a run", whole: true, problems: []int{http.StatusConflict}}, s.tree)
	register(s, route{id: "getReceipt", method: http.MethodGet, path: one + "/receipts/{record}", tag: tag, summary: "What an effect of a run sent, and what came back", whole: true}, s.receipt)
}

func (s *Server) tree(ctx context.Context, in *RunPath) (*of[Tree], error) {
	r, err := s.found(ctx, in)
	if err != nil {
		return nil, err
	}
	t, err := s.config.Service.Tree(ctx, r.Owner, r.ID)
	if err != nil {
		return nil, err
	}
	return &of[Tree]{treeForm(t)}, nil
}

func treeForm(t *bt.Tree) Tree {
	f := Tree{ID: t.ID, Text: string(t.Source), Nodes: make([]TreeNode, 0, t.Size())}
	for n := range t.Nodes() {
		f.Nodes = append(f.Nodes, TreeNode{Node: n.ID, Parent: n.Parent, Type: n.Type, Name: n.Name, Rule: t.Rule(n.ID), Leaf: n.Leaf, Says: list(t.Says(n.ID))})
	}
	return f
}

func (s *Server) receipt(ctx context.Context, in *RecordPath) (*of[Receipt], error) {
	r, err := s.found(ctx, &in.RunPath)
	if err != nil {
		return nil, err
	}
	told, err := s.config.Service.Receipt(ctx, r.Owner, r.ID, in.Record)
	if err != nil {
		return nil, err
	}
	f := Receipt{Effect: effectForm(told.Asked), Record: told.Record, At: told.At, TookMS: told.Took.Milliseconds(), Found: told.Found, To: told.To,
		Sent: partForms(told.Sent), Got: partForms(told.Got), LeftOut: list(told.LeftOut), Changed: told.Changed, Lost: told.Lost}
	if told.Used != nil {
		tokens := s.config.Prices.costOf(*told.Used)
		f.Used = &tokens
	}
	if told.Fault != nil {
		f.Failure = told.Fault.Reason
	}
	return &of[Receipt]{f}, nil
}

func partForms(parts []service.Part) []Part {
	return forms(parts, func(p service.Part) Part { return Part{string(p.Kind), p.Name, p.Text, p.Bytes, p.Tokens} })
}
