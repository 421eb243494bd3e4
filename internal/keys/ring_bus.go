//go:build unix && !darwin

package keys

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// mayHaveKeyring says whether there is a session bus, behind which a keyring may be. It is looked for here, since the
// library would start a bus where it finds none.
func mayHaveKeyring() bool {
	return hasSessionBus(os.Getenv("DBUS_SESSION_BUS_ADDRESS"), fmt.Sprintf("/run/user/%d", os.Getuid()))
}

func hasSessionBus(address, runtimeDir string) bool {
	if address != "" && !strings.HasPrefix(address, "autolaunch:") {
		return true
	}
	for _, name := range []string{"bus", "dbus-session"} {
		if _, err := os.Stat(filepath.Join(runtimeDir, name)); err == nil {
			return true
		}
	}
	return false
}
