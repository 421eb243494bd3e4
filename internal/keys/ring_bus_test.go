//go:build unix && !darwin

package keys

import (
	"os"
	"path/filepath"
	"testing"
)

func TestKeyringIsLookedForBehindASessionBusOnly(t *testing.T) {
	withBus := t.TempDir()
	if err := os.WriteFile(filepath.Join(withBus, "bus"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, address, runtimeDir string
		want                      bool
	}{
		{"headless", "", t.TempDir(), false},
		{"no folder at all", "", "/nowhere", false},
		{"an address that would start a bus", "autolaunch:", t.TempDir(), false},
		{"an address", "unix:path=/tmp/bus", t.TempDir(), true},
		{"a socket in the usual place", "", withBus, true},
	} {
		if got := hasSessionBus(c.address, c.runtimeDir); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
