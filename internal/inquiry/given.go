package inquiry

import (
	"sibyl/internal/bt"
	"sibyl/internal/inquiry/record"
)

// Given are the inputs of the tree.
type Given struct {
	ID         string `port:"id"` // of the session, a UUID; that of the journal is called so, too
	Hypothesis string `port:"hypothesis"`
	Language   string `port:"language"`  // "en", "de", "pt", "fr" or "es"; "": not known
	Limit      int    `port:"limit"`     // of questions
	Model      bool   `port:"model"`     // the detective is a model; else quotations are collected
	Detective  string `port:"detective"` // provider:model; offline:rules for none
}

// Env says which models and which witness a run uses. It is journaled, and holds no secret.
type Env struct {
	Detective string      `json:"detective"`       // provider:model
	Asked     string      `json:"asked,omitempty"` // the detective that the person chose
	Witness   WitnessSpec `json:"witness"`
}

// Models implements assistant.UsesModels.
func (e Env) Models() []string {
	all := []string{e.Detective, e.Witness.Model}
	if e.Witness.Kind == record.WitnessModel {
		all = append(all, e.Witness.Name)
	}
	return all
}

// treeResult are the keys of the tree that the outcome is composed from.
type treeResult struct {
	Turns   []Turn  `port:"turns,optional"`
	Ledger  Ledger  `port:"ledger,optional"`
	Reason  string  `port:"reason,optional"`
	Failure string  `port:"failure,optional"`
	Summary int64   `port:"summary,optional"`
	Trail   []Trail `port:"trail,optional"`
	Opened  int64   `port:"opened,optional"`
}

// Trail is an entry of the audit trail, at the record that it belongs to.
type Trail struct {
	Ref    int64  `json:"ref"`
	Event  string `json:"event"`
	From   string `json:"from,omitempty"`
	To     string `json:"to,omitempty"`
	Reason string `json:"reason"`
	bt.Coded
}

// newTrail makes an entry of the audit trail.
func newTrail(ref int64, event record.EventKind, why bt.Why) Trail {
	return Trail{Ref: ref, Event: string(event), Reason: why.Text, Coded: why.Coded}
}

// The texts that a run keeps.
const (
	textDetective = "detective"
	textAnalyse   = "analyse"
	textSummary   = "summary"
	textHanded    = "documents" // those that were handed over
)

// readStart reads the run's start record: its inputs and Env.
func (p *performer) readStart() error {
	return p.view.ReadStart(&p.env, &p.given)
}

// Leaves are the Inquiry's leaves; Options declare the inputs and results of its trees.
func Leaves() (*bt.Leaves, bt.Options, error) {
	return bt.Declare[Given, treeResult](openLeaf(), strategyLeaf(), askLeaf(), hearLeaf(), analyseLeaf(), judgeLeaf(),
		closeLeaf(), sumLeaf(), writeLeaf())
}
