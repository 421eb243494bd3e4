// Package network computes classifiers of the BERT family: ONNX models in local folders, in pure Go. It is the larger part of a program of
// its own, the child of package bert, so that who uses no such model neither downloads nor builds what computes it.
//
// Guarantees: nothing but the model's folder is read, nothing is written. The libraries below may end the process or print; whoever loads a
// model is ready for that.
package network

import (
	"sibyl/internal/bert"
)

// model is a folder that was loaded.
type model struct {
	*folder
	tokens  *tokens
	network *network
}

// Load reads the model in dir and lets it answer once: whether it uses something that can't be computed shows only then. The error is of
// the kind NotAModel or LoadFailed.
func Load(dir string) (bert.Model, error) {
	f, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	m := &model{folder: f}
	if m.tokens, err = loadTokens(f); err != nil {
		return nil, bert.Problemf(bert.LoadFailed, "%s can't be used: %s", tokenizerFile, bert.Snippet(err.Error()))
	}
	if m.network, err = loadNetwork(f); err == nil {
		err = m.try()
	}
	if err != nil {
		return nil, bert.Problemf(bert.LoadFailed, "%s can't be used: %s", f.network, bert.Snippet(err.Error()))
	}
	return m, nil
}

func (m *model) try() error {
	hypothesis := ""
	if kind, _ := bert.KindOf(m.labels); kind == bert.ZeroShot {
		hypothesis = "It works."
	}
	_, err := m.Logits("A first try.", hypothesis)
	return err
}

// Labels are those of the configuration.
func (m *model) Labels() []string { return m.labels }

// Logits reads a text, head and tail of it if it is too long, and a hypothesis, whole.
func (m *model) Logits(text, hypothesis string) ([]float32, error) {
	r, err := m.tokens.row(text, hypothesis)
	if err != nil {
		return nil, err
	}
	return m.network.logits(r)
}
