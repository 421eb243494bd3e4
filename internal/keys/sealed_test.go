package keys

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"filippo.io/age"

	"sibyl/internal/config"
	"sibyl/internal/files"
)

// stored are places whose file holds the canary for openai.
func stored(t *testing.T) config.KeyPlaces {
	t.Helper()
	at := places(t, config.KeysAuto)
	mustSet(t, headless(at), "openai", canary, File)
	return at
}

// wantRefused wants an error with that text from every way to the file, and the file left as it is.
func wantRefused(t *testing.T, at config.KeyPlaces, want string) {
	t.Helper()
	before, err := os.ReadFile(at.File)
	if err != nil {
		t.Fatal(err)
	}
	s := headless(at)
	_, whereErr := s.Where()
	_, keyErr := s.Key(t.Context(), "openai")
	_, setErr := s.Set(t.Context(), "openai", secret("canary-of-another-key"))
	for _, err := range []error{whereErr, keyErr, setErr, s.Delete(t.Context(), "openai")} {
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("error = %v\nwant %s", err, want)
		}
	}
	if after, err := os.ReadFile(at.File); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed, error %v", err)
	}
}

func TestFileAndIdentityAreForThePersonAlone(t *testing.T) {
	at := stored(t)
	for _, path := range []string{at.File, at.Identity} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %04o", path, info.Mode().Perm())
		}
	}
	text, err := os.ReadFile(at.File)
	if err != nil || bytes.Contains(text, []byte("canary")) || bytes.Contains(text, []byte("openai")) {
		t.Errorf("the file shows what is in it, error %v:\n%s", err, text)
	}
}

func TestFileThatOthersCanReadIsRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such modes")
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620} {
		at := stored(t)
		if err := os.Chmod(at.File, mode); err != nil {
			t.Fatal(err)
		}
		wantRefused(t, at, "chmod 600 "+at.File)
	}
	at := stored(t)
	if err := os.Chmod(at.Identity, 0o644); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, at, "chmod 600 "+at.Identity)
}

func TestDamagedFileIsRefusedAndLeftAlone(t *testing.T) {
	at := stored(t)
	whole, err := os.ReadFile(at.File)
	if err != nil {
		t.Fatal(err)
	}
	damaged := [][]byte{nil, []byte("canary: this is no age file"), whole[:20], whole[:len(whole)-1],
		append(bytes.Clone(whole), 'x')}
	for at := range whole {
		if at%7 == 0 {
			flipped := bytes.Clone(whole)
			flipped[at] ^= 1
			damaged = append(damaged, flipped)
		}
	}
	for _, text := range damaged {
		if err := os.WriteFile(at.File, text, 0o600); err != nil {
			t.Fatal(err)
		}
		wantRefused(t, at, "move it away and store the keys again")
	}
}

func TestFileThatDecryptsToSomethingElseIsRefused(t *testing.T) {
	for text, want := range map[string]string{"canary": "is damaged", `["canary"]`: "is damaged",
		`{"version":2,"keys":{"a":"canary"}}`: "is of version 2", "{}": "is of version 0"} {
		at := stored(t)
		identities, err := headless(at).file.identities()
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		w, err := age.Encrypt(&out, identities[0].(*age.X25519Identity).Recipient())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(w, text)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at.File, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		wantRefused(t, at, want)
	}
}

func TestMissingOrWrongIdentityIsNeverReplaced(t *testing.T) {
	at := stored(t)
	other := stored(t)
	wrong := at
	wrong.Identity = other.Identity
	wantRefused(t, wrong, "is encrypted for another identity than "+other.Identity)

	if err := os.Rename(at.Identity, at.Identity+".away"); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, at, "its identity "+at.Identity+" is not there")
	if _, err := os.Stat(at.Identity); err == nil {
		t.Error("another identity was made")
	}
	at.Identity, at.IdentityNamed = at.Identity+".away", true
	wantKey(t, headless(at), "openai", canary)
}

func TestNamedIdentityIsUsedAndNotMade(t *testing.T) {
	at := places(t, config.KeysAuto)
	at.Identity, at.IdentityNamed = filepath.Join(t.TempDir(), "age.txt"), true
	if _, err := headless(at).Set(t.Context(), "openai", secret(canary)); err == nil ||
		!strings.Contains(err.Error(), "age-keygen -o "+at.Identity) {
		t.Errorf("error = %v", err)
	}
	mine, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at.Identity, []byte("# mine\n\n"+mine.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	mustSet(t, headless(at), "openai", canary, File)
	text, err := os.ReadFile(at.File)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := age.Decrypt(bytes.NewReader(text), mine); err != nil {
		t.Errorf("the file is not encrypted for the identity that was named: %v", err)
	}
}

func TestIdentityThatIsNoneIsNotShown(t *testing.T) {
	at := stored(t)
	for _, text := range []string{"", "canary", "AGE-SECRET-KEY-1CANARY", "AGE-SECRET-KEY-PQ-1CANARY", "age1canary",
		"\xff\xfe"} {
		if err := os.WriteFile(at.Identity, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := headless(at).Where()
		if err == nil || !strings.Contains(err.Error(), at.Identity+" holds no X25519 identity") ||
			strings.Contains(strings.ToLower(err.Error()), "canary") {
			t.Errorf("%q: error = %v", text, err)
		}
	}
}

func TestWhatIsNoFileIsRefused(t *testing.T) {
	at := stored(t)
	if err := os.Remove(at.File); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(at.File, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := headless(at).Where(); err == nil ||
		!strings.Contains(err.Error(), "must be a file of at most 1024 KB") {
		t.Errorf("error = %v", err)
	}
}

func TestKeysInTheKeyringCountWhileTheFileIsDamaged(t *testing.T) {
	at, r := stored(t), memoryRing{}
	mustSet(t, desktop(at, r), "brave", "of-the-keyring", Keyring)
	if err := os.WriteFile(at.File, []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantKey(t, desktop(at, r), "brave", "of-the-keyring")
	if err := desktop(at, r).Delete(t.Context(), "brave"); err != nil {
		t.Error(err)
	}
}

func TestLastKeyTakesTheFileWithIt(t *testing.T) {
	at := stored(t)
	if err := headless(at).Delete(t.Context(), "openai"); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(filepath.Dir(at.File))
	if err != nil || len(left) != 0 {
		t.Errorf("left: %v, error %v", left, err)
	}
	mustSet(t, headless(at), "openai", canary, File) // the identity serves on
}

func TestLinkToTheFileStaysALink(t *testing.T) {
	at := stored(t)
	elsewhere := filepath.Join(t.TempDir(), "keys.age")
	if err := os.Rename(at.File, elsewhere); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, at.File); err != nil {
		t.Skip("no links here:", err)
	}
	mustSet(t, headless(at), "brave", "another-key", File)
	if target, err := os.Readlink(at.File); err != nil || target != elsewhere {
		t.Errorf("the link leads to %q, error %v", target, err)
	}
	wantKey(t, headless(at), "openai", canary)
	wantKey(t, headless(at), "brave", "another-key")
}

func TestFileThatCannotBeWrittenIsAsItWas(t *testing.T) {
	if os.Getuid() <= 0 {
		t.Skip("root may write everywhere")
	}
	at := stored(t)
	if err := os.Chmod(filepath.Dir(at.File), 0o500); err != nil {
		t.Fatal(err)
	}
	if _, err := headless(at).Set(t.Context(), "brave", secret("canary-of-brave")); err == nil ||
		strings.Contains(err.Error(), "canary") {
		t.Errorf("error = %v", err)
	}
	wantKey(t, headless(at), "openai", canary)
}

// writerVariable names the home folder of a program that stores keys, as the first of its arguments says.
const writerVariable = "SIBYL_TEST_WRITER"

func writer() int {
	home := os.Getenv(writerVariable)
	at := config.KeyPlaces{File: filepath.Join(home, "keys.age"), Folder: home, Identity: filepath.Join(home, "id.txt")}
	for n := range 8 {
		if _, err := headless(at).Set(context.Background(), fmt.Sprintf("%s-%d", os.Args[1], n),
			secret(canary)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return 0
}

func TestWritersOfSeveralProgramsLoseNoKey(t *testing.T) {
	home := t.TempDir()
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0], fmt.Sprintf("program%d", n))
			cmd.Env = append(os.Environ(), writerVariable+"="+home)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	all.Wait()
	at := config.KeyPlaces{File: filepath.Join(home, "keys.age"), Folder: home, Identity: filepath.Join(home, "id.txt")}
	if where, err := headless(at).Where(); err != nil || len(where) != 32 {
		t.Errorf("%d keys are left, error %v", len(where), err)
	}
}

func TestWaitForAnotherWriterIsBounded(t *testing.T) {
	at := stored(t)
	root, err := os.OpenRoot(at.Folder)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close() //nolint:errcheck // opened for the lock only
	unlock, err := files.Lock(t.Context(), root, "keys.lock", time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	synctest.Test(t, func(t *testing.T) {
		if _, err := headless(at).Set(t.Context(), "openai", secret(canary)); err == nil ||
			!strings.Contains(err.Error(), "another program has been writing keys") {
			t.Errorf("error = %v", err)
		}
	})
}
