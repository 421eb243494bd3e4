package model

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

//go:embed localmodels.json
var localModelsText []byte

// Locals are models that people run on their own machine with Ollama, the largest first.
type Locals struct {
	Date   string       `json:"date"`   // of what is said here, as 2025-10
	Window int          `json:"window"` // the context window that MemoryGB counts, in tokens
	Models []LocalModel `json:"models"`
}

// LocalModel is a model that calls tools. Sizes are in GB (10^9 bytes).
type LocalModel struct {
	Name     string  `json:"name"` // as Ollama knows it
	DiskGB   float64 `json:"disk_gb"`
	MemoryGB float64 `json:"memory_gb"` // of a machine that runs it beside its usual programs
	About    string  `json:"about"`     // what it is good for
}

// LocalModels are those that this build knows.
func LocalModels() Locals { return localModels() }

var localModels = sync.OnceValue(func() Locals {
	var all Locals
	if err := json.Unmarshal(localModelsText, &all); err != nil {
		panic(fmt.Sprintf("the table of local models: %v", err)) // it is ours, and tested
	}
	return all
})

// Fitting are the models that a machine with so many bytes of memory runs, the largest first. Of 0, which is not known, all.
func (l Locals) Fitting(memory uint64) []LocalModel {
	return slices.DeleteFunc(slices.Clone(l.Models), func(m LocalModel) bool { return memory > 0 && m.MemoryGB*1e9 > float64(memory)*1.02 })
}
