package council

import (
	"sibyl/internal/bt"
	"sibyl/internal/council/session"
)

// The kinds of runs, each with a tree of its own.
const (
	KindAnswer        = "answer"        // one oracle answers
	KindSitting       = "sitting"       // several do
	KindTranscription = "transcription" // recordings are written down
	KindNaming        = "naming"        // a model names the session
)

// Seat is an oracle as a run knows it.
type Seat struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Slug string `json:"slug,omitempty" hidden:"true"`
}

// Given are the inputs of a run.
type Given struct {
	Kind     string                  `port:"kind"`
	Session  string                  `port:"session"` // the council's id of it
	Oracles  []Seat                  `port:"oracles"`
	Snapshot session.ContextSnapshot `port:"snapshot"` // of the context that they are given
	// an id of the sitting, from which the ids of its members' runs are computed
	Sitting string `port:"sitting"`
	Chaired bool   `port:"chaired"`
	Chair   Seat   `port:"chair"`
	Again   bool   `port:"again"` // recordings that have failed are tried again
}

// Env is the environment of a run. It is journaled, and contains no secret.
type Env struct {
	Model    string   `json:"model,omitempty"`
	Asked    string   `json:"asked,omitempty"`    // the model that the person chose for the session
	Name     string   `json:"name,omitempty"`     // of the session
	Language string   `json:"language,omitempty"` // of the session
	Expected []string `json:"expected,omitempty"` // languages of its recordings, if it has none
	Sitting  string   `json:"sitting,omitempty"`  // of an answer: the run of the sitting that it belongs to
	Merges   string   `json:"merges,omitempty"`   // of a sitting: the run of the earlier one whose answers it merges again
	Cut      string   `json:"cut,omitempty"`      // what of the session did not fit, in words: "7 of 9 transcripts"
	Doubted  []string `json:"doubted,omitempty"`  // what of the context may not have been said, in words
	Left     []string `json:"left,omitempty"`     // what is not in the context, and why, in words
}

// Models implements assistant.UsesModels.
func (e Env) Models() []string { return []string{e.Model} }

// Heard is an oracle of a sitting. Ref is the record of its answer, 0 without one; Failed says why there is none.
type Heard struct {
	Seat   Seat   `json:"seat"`
	Run    string `json:"run"`
	Ref    int64  `json:"ref,omitempty"`
	Failed string `json:"failed,omitempty"`
	bt.Coded
}

// Recording is a recording that a run was to transcribe; Failed says why it has no transcript.
type Recording struct {
	Sequence int    `json:"sequence"`
	File     string `json:"file"`
	Failed   string `json:"failed,omitempty"`
}

// The names of the texts that a run stores.
const (
	textPrompt  = "prompt"        // the very prompt of an oracle
	textContext = "context"       // that all oracles of a sitting are given
	textEntries = "entries"       // of the context, as JSON
	textOracle  = "oracle"        // the oracle, or with a dot and its id one of several, as JSON
	textChair   = "chair"         // the prompt of a chair
	textBriefly = "chair-briefly" // the prompt of a chair whose first words could not be used
	textName    = "name"          // … and of naming
)

// readStart reads the run's Env and Given from its start record.
func (p *performer) readStart() error {
	return p.view.ReadStart(&p.env, &p.given)
}

// Leaves gives the Council's leaves, and the options for loading its trees.
func Leaves() (*bt.Leaves, bt.Options, error) {
	return bt.Declare[Given, struct{}](askOracle(), keepAnswer(), callOracles(), hearOracles(), callChair(),
		chairLeaf(), nameLeaf(), nextRecording(), transcribeLeaf(), settleLeaf())
}
