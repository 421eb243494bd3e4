package api

import (
	"context"
	"net/http"

	"sibyl/internal/bt"
	"sibyl/internal/user"
)

// CheckedTree is a tree in force, with what a check of it says.
type CheckedTree struct {
	Name     string
	Text     []byte
	Original []byte       // the one that is built in, where this one stands in its place; nil: there is none
	BuiltIn  bool         // it stands in nobody's folder
	Nodes    int          // 0: it does not load
	Picture  string       // a line a node; "": it does not load
	Problems []bt.Problem // their files are not told
}

// Trees are those in force.
type Trees struct {
	Trees []TreeInForce `json:"trees" doc:"By name."`
}

// TreeInForce is a tree that new runs begin with.
type TreeInForce struct {
	Name     string `json:"name"`
	BuiltIn  bool   `json:"built_in" doc:"It comes with the program; else it stands in the folder of the setting trees."`
	Replaces bool   `json:"replaces" doc:"It stands in place of one that is built in."`
	Nodes    int    `json:"nodes" doc:"0: it does not load."`
	Problems int    `json:"problems" doc:"What a check finds, warnings too."`
}

// TreeWhole is a tree with its text, and what a check of it says.
type TreeWhole struct {
	TreeInForce
	Text     string        `json:"text" doc:"Its XML."`
	Original string        `json:"original,omitempty" doc:"The XML of the one that is built in, where this one stands in its place."`
	Picture  string        `json:"picture,omitempty" doc:"A line a node; left out where it does not load."`
	Found    []TreeProblem `json:"found" doc:"What a check finds."`
}

// TreeProblem is something that is wrong with a tree, and where.
type TreeProblem struct {
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty" doc:"What would fix it."`
	Warning bool   `json:"warning,omitempty" doc:"The tree loads all the same."`
}

func (s *Server) treeRoutes(tag string) {
	register(s, route{id: "listTrees", method: http.MethodGet, path: "/api/trees", tag: tag, summary: "The trees in force, and whether they load", needs: user.Operate}, s.trees)
	register(s, route{id: "getTree", method: http.MethodGet, path: "/api/trees/{tree}", tag: tag, summary: "A tree in force, what a check of it finds, and the one that it replaces", needs: user.Operate, whole: true}, s.treeInForce)
}

func inForce(t CheckedTree) TreeInForce {
	return TreeInForce{Name: t.Name, BuiltIn: t.BuiltIn, Replaces: t.Original != nil, Nodes: t.Nodes, Problems: len(t.Problems)}
}

func (s *Server) trees(context.Context, *none) (*of[Trees], error) {
	found, err := s.config.Operation.Trees()
	if err != nil {
		return nil, err
	}
	return &of[Trees]{Trees{forms(found, inForce)}}, nil
}

func (s *Server) treeInForce(_ context.Context, in *struct {
	Tree string `path:"tree" maxLength:"200" doc:"The name of a tree in force."`
}) (*of[TreeWhole], error) {
	found, err := s.config.Operation.Trees()
	if err != nil {
		return nil, err
	}
	for _, t := range found {
		if t.Name != in.Tree {
			continue
		}
		f := TreeWhole{TreeInForce: inForce(t), Text: string(t.Text), Original: string(t.Original), Picture: t.Picture, Found: []TreeProblem{}}
		for _, p := range t.Problems {
			f.Found = append(f.Found, TreeProblem{Line: p.Line, Column: p.Col, Message: p.Message, Hint: p.Hint, Warning: p.Warning})
		}
		return &of[TreeWhole]{f}, nil
	}
	return nil, newProblem(http.StatusNotFound, "no_tree", "There is no tree of that name.", "GET /api/trees names those in force.")
}
