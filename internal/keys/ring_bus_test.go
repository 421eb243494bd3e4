//go:build unix && !darwin

package keys

import (
	"os"
	"path/filepath"
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestKeyringIsLookedForBehindASessionBusOnly(t *testing.T) {
	withBus := t.TempDir()
	assert.NoError(t, os.WriteFile(filepath.Join(withBus, "bus"), nil, 0o600))
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
		assert.Equalf(t, hasSessionBus(c.address, c.runtimeDir), c.want, "%s", c.name)
	}
}
