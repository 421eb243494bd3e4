package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"sibyl/internal/files"
	"sibyl/internal/tool"
)

// Pins remember what servers list, since a server that is trusted today may describe its tools differently tomorrow.
// What a server lists at its first use is trusted. Processes share a folder; each pin is a file, written atomically.
type Pins struct {
	Folder string // "": nothing can be remembered
	Now    func() time.Time
}

// Pin is what a server listed when it was trusted.
type Pin struct {
	Server  string    `json:"server"`
	At      time.Time `json:"at"`
	Hash    string    `json:"hash"`
	Listing Listing   `json:"listing"`
}

// ErrChanged is wrapped by the errors of servers that list other tools than were trusted.
var ErrChanged = errors.New("its tools have changed since they were trusted")

// ErrNoPin says that there is no pin of a server.
var ErrNoPin = errors.New("it was never used")

const maxPin = 8 << 20 // bytes of a pin

func (p Pins) file(server string) string { return filepath.Join(p.Folder, server+".json") }

// Read returns the pin of a server, or ErrNoPin.
func (p Pins) Read(server string) (Pin, error) {
	if p.Folder == "" {
		return Pin{}, ErrNoPin
	}
	content, err := os.ReadFile(p.file(server))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Pin{}, ErrNoPin
	case err != nil:
		return Pin{}, fmt.Errorf("what was trusted can't be read: %w", err)
	}
	var pin Pin
	if err := json.Unmarshal(content, &pin); err != nil || pin.Server != server || pin.Hash != pin.Listing.Hash() {
		return Pin{}, fmt.Errorf("%s is damaged: ‘sibyl mcp trust %s’ writes it anew", p.file(server), server)
	}
	return pin, nil
}

// Trust writes a pin of what a server lists, and replaces an older one.
func (p Pins) Trust(server string, l Listing) error {
	if p.Folder == "" {
		return errors.New("there is no folder to remember its tools in, since the home folder " +
			"is unknown: set HOME, or pin in the settings")
	}
	content, err := json.MarshalIndent(Pin{Server: server, At: p.Now().UTC().Truncate(time.Second), Hash: l.Hash(),
		Listing: l}, "", " ")
	if err != nil {
		return err
	}
	if len(content) > maxPin {
		return fmt.Errorf("what it lists has more than %d bytes", maxPin)
	}
	if err := files.Replace(p.file(server), content, 0o600); err != nil {
		return fmt.Errorf("its tools can't be remembered (pin them in the settings where this folder can't be "+
			"written): %w", err)
	}
	return nil
}

// Admit returns a check of what a server lists. It trusts a server at its first use, and refuses one that lists
// something else than was trusted, with ErrChanged. pinned is a hash of the settings; if set, it decides instead.
func (p Pins) Admit(server, pinned string) func(context.Context, Listing) error {
	return func(_ context.Context, l Listing) error {
		if pinned != "" {
			if l.Hash() == pinned {
				return nil
			}
			return changedError(server, fmt.Sprintf("the settings pin %s, and it has %s", pinned, l.Hash()))
		}
		was, err := p.Read(server)
		switch {
		case errors.Is(err, ErrNoPin):
			return p.Trust(server, l)
		case err != nil:
			return err
		case was.Hash == l.Hash():
			return nil
		}
		return changedError(server, "‘sibyl mcp servers’ shows how, and ‘sibyl mcp trust "+server+"’ accepts it")
	}
}

func changedError(server, hint string) error {
	return tool.Errorf(tool.Denied, hint, "%s is not used: %w", server, ErrChanged)
}
