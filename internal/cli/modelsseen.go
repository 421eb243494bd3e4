package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sibyl/internal/files"
)

// seenFile keeps which models servers listed when they were last asked, so that their names can be completed without asking again.
func seenFile(dataDir string) string { return filepath.Join(dataDir, "models.json") }

// mostSeen bounds the file, in bytes.
const mostSeen = 1 << 20

// seenModels are the models, as provider:model; none where nothing is kept or it can't be read.
func seenModels(dataDir string) (all []string) {
	info, err := os.Stat(seenFile(dataDir))
	if err != nil || info.Size() > mostSeen {
		return nil
	}
	text, err := os.ReadFile(seenFile(dataDir))
	if err != nil || json.Unmarshal(text, &all) != nil {
		return nil
	}
	return all
}

// keepSeen keeps what servers listed, in place of what those servers had listed before. Where it can't be kept, nothing is lost but a completion.
func keepSeen(dataDir string, found []listed) {
	before := seenModels(dataDir)
	all := slices.Clone(before)
	for _, l := range found {
		if l.Error != "" || l.Missing != "" {
			continue
		}
		all = slices.DeleteFunc(all, func(id string) bool { return strings.HasPrefix(id, l.Provider+":") })
		for _, name := range l.Models {
			all = append(all, l.Provider+":"+name)
		}
	}
	slices.Sort(all)
	text, err := json.Marshal(all)
	if err != nil || slices.Equal(all, before) || len(text) > mostSeen || os.MkdirAll(dataDir, 0o700) != nil {
		return
	}
	_ = files.Replace(seenFile(dataDir), text, 0o600)
}
