package api

import (
	"context"

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

// RecordPath is in the address of whatever is about a record of a run.
type RecordPath struct {
	RunPath
	Record int64 `path:"record" minimum:"0" doc:"The number of the record."`
}

func (s *Server) whyRoutes() {
	const one, tag = "/api/runs/{run}", "runs"
	answer(s, route{id: "treeOfRun", at: "GET " + one + "/tree", tag: tag, summary: "The tree that decides in a run", whole: true}, s.tree)
	answer(s, route{id: "getReceipt", at: "GET " + one + "/receipts/{record}", tag: tag, summary: "What an effect of a run sent, and what came back", whole: true}, s.receipt)
}

func (s *Server) tree(ctx context.Context, in *RunPath) (Tree, error) {
	r, err := s.found(ctx, in.Run)
	if err != nil {
		return Tree{}, err
	}
	t, err := s.config.Service.Tree(ctx, r.Owner, r.ID)
	if err != nil {
		return Tree{}, err
	}
	f := Tree{ID: t.ID, Text: string(t.Source), Nodes: make([]TreeNode, 0, t.Size())}
	for n := range t.Nodes() {
		f.Nodes = append(f.Nodes, TreeNode{Node: n.ID, Parent: n.Parent, Type: n.Type, Name: n.Name, Rule: t.Rule(n.ID), Leaf: n.Leaf, Says: t.Says(n.ID)})
	}
	return f, nil
}

func (s *Server) receipt(ctx context.Context, in *RecordPath) (told service.Receipt, err error) {
	r, err := s.found(ctx, in.Run)
	if err != nil {
		return told, err
	}
	return s.config.Service.Receipt(ctx, r.Owner, r.ID, in.Record)
}
