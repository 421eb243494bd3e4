package sqlite

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// unprivileged runs do on a thread that file permissions hold for, even if the tests run as root.
func unprivileged(t *testing.T, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if os.Geteuid() == 0 {
			const nobody = 65534
			if err := syscall.Setfsuid(nobody); err != nil {
				t.Error(err)
				return
			}
		}
		do()
	}()
	<-done
}

func TestReadOnlyFolderIsSaidToBeSo(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, path string){
		"no database":         func(*testing.T, string) {},
		"a database is there": func(t *testing.T, path string) { closed(t, openAt(t, path)) },
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			if err := os.Chmod(filepath.Dir(folder), 0o755); err != nil { // others may not enter it
				t.Fatal(err)
			}
			path := filepath.Join(folder, "sibyl.db")
			prepare(t, path)
			if err := os.Chmod(folder, 0o555); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.Chmod(folder, 0o755) })
			unprivileged(t, func() {
				db, err := Open(t.Context(), path)
				if err == nil {
					_ = db.Close()
				}
				if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "folder") {
					t.Errorf("error is %v, want one that names %s and its folder", err, path)
				}
			})
		})
	}
}
