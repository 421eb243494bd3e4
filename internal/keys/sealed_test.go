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

	"sibyl/internal/behaviour/assert"
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
	before := assert.Must(os.ReadFile(at.File))(t)
	s := headless(at)
	_, whereErr := s.Where()
	_, keyErr := s.Key(t.Context(), "openai")
	_, setErr := s.Set(t.Context(), "openai", secret("canary-of-another-key"))
	for _, err := range []error{whereErr, keyErr, setErr, s.Delete(t.Context(), "openai")} {
		assert.That(t, err != nil && strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), "canary"),
			"error = %v\nwant %s", err, want)
	}
	after, err := os.ReadFile(at.File)
	assert.That(t, err == nil && bytes.Equal(before, after), "the file was changed, error %v", err)
}

func TestFileAndIdentityAreForThePersonAlone(t *testing.T) {
	at := stored(t)
	for _, path := range []string{at.File, at.Identity} {
		info := assert.Must(os.Stat(path))(t)
		assert.That(t, runtime.GOOS == "windows" || info.Mode().Perm() == 0o600, "%s has mode %04o", path, info.Mode().Perm())
	}
	text, err := os.ReadFile(at.File)
	assert.That(t, err == nil && !bytes.Contains(text, []byte("canary")) && !bytes.Contains(text, []byte("openai")),
		"the file shows what is in it, error %v:\n%s", err, text)
}

func TestFileThatOthersCanReadIsRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such modes")
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620} {
		at := stored(t)
		assert.NoError(t, os.Chmod(at.File, mode))
		wantRefused(t, at, "chmod 600 "+at.File)
	}
	at := stored(t)
	assert.NoError(t, os.Chmod(at.Identity, 0o644))
	wantRefused(t, at, "chmod 600 "+at.Identity)
}

func TestDamagedFileIsRefusedAndLeftAlone(t *testing.T) {
	at := stored(t)
	whole := assert.Must(os.ReadFile(at.File))(t)
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
		assert.NoError(t, os.WriteFile(at.File, text, 0o600))
		wantRefused(t, at, "move it away and store the keys again")
	}
}

func TestFileThatDecryptsToSomethingElseIsRefused(t *testing.T) {
	for text, want := range map[string]string{"canary": "is damaged", `["canary"]`: "is damaged",
		`{"version":2,"keys":{"a":"canary"}}`: "is of version 2", "{}": "is of version 0"} {
		at := stored(t)
		identities := assert.Must(headless(at).file.identities())(t)
		var out bytes.Buffer
		w := assert.Must(age.Encrypt(&out, identities[0].(*age.X25519Identity).Recipient()))(t)
		fmt.Fprint(w, text)
		assert.NoError(t, w.Close())
		assert.NoError(t, os.WriteFile(at.File, out.Bytes(), 0o600))
		wantRefused(t, at, want)
	}
}

func TestMissingOrWrongIdentityIsNeverReplaced(t *testing.T) {
	at := stored(t)
	other := stored(t)
	wrong := at
	wrong.Identity = other.Identity
	wantRefused(t, wrong, "is encrypted for another identity than "+other.Identity)

	assert.NoError(t, os.Rename(at.Identity, at.Identity+".away"))
	wantRefused(t, at, "its identity "+at.Identity+" is not there")
	_, err := os.Stat(at.Identity)
	assert.That(t, err != nil, "another identity was made")
	at.Identity, at.IdentityNamed = at.Identity+".away", true
	wantKey(t, headless(at), "openai", canary)
}

func TestNamedIdentityIsUsedAndNotMade(t *testing.T) {
	at := places(t, config.KeysAuto)
	at.Identity, at.IdentityNamed = filepath.Join(t.TempDir(), "age.txt"), true
	_, err := headless(at).Set(t.Context(), "openai", secret(canary))
	assert.That(t, err != nil && strings.Contains(err.Error(), "age-keygen -o "+at.Identity), "error = %v", err)
	mine := assert.Must(age.GenerateX25519Identity())(t)
	assert.NoError(t, os.WriteFile(at.Identity, []byte("# mine\n\n"+mine.String()+"\n"), 0o600))
	mustSet(t, headless(at), "openai", canary, File)
	text := assert.Must(os.ReadFile(at.File))(t)
	_, err = age.Decrypt(bytes.NewReader(text), mine)
	assert.That(t, err == nil, "the file is not encrypted for the identity that was named: %v", err)
}

func TestIdentityThatIsNoneIsNotShown(t *testing.T) {
	at := stored(t)
	for _, text := range []string{"", "canary", "AGE-SECRET-KEY-1CANARY", "AGE-SECRET-KEY-PQ-1CANARY", "age1canary",
		"\xff\xfe"} {
		assert.NoError(t, os.WriteFile(at.Identity, []byte(text), 0o600))
		_, err := headless(at).Where()
		assert.That(t, err != nil && strings.Contains(err.Error(), at.Identity+" holds no X25519 identity") &&
			!strings.Contains(strings.ToLower(err.Error()), "canary"), "%q: error = %v", text, err)
	}
}

func TestWhatIsNoFileIsRefused(t *testing.T) {
	at := stored(t)
	assert.NoError(t, os.Remove(at.File))
	assert.NoError(t, os.MkdirAll(at.File, 0o700))
	_, err := headless(at).Where()
	assert.That(t, err != nil && strings.Contains(err.Error(), "must be a file of at most 1024 KB"), "error = %v", err)
}

func TestKeysInTheKeyringCountWhileTheFileIsDamaged(t *testing.T) {
	at, r := stored(t), memoryRing{}
	mustSet(t, desktop(at, r), "brave", "of-the-keyring", Keyring)
	assert.NoError(t, os.WriteFile(at.File, []byte("damaged"), 0o600))
	wantKey(t, desktop(at, r), "brave", "of-the-keyring")
	assert.Nil(t, desktop(at, r).Delete(t.Context(), "brave"))
}

func TestLastKeyTakesTheFileWithIt(t *testing.T) {
	at := stored(t)
	assert.NoError(t, headless(at).Delete(t.Context(), "openai"))
	left, err := os.ReadDir(filepath.Dir(at.File))
	assert.That(t, err == nil && len(left) == 0, "left: %v, error %v", left, err)
	mustSet(t, headless(at), "openai", canary, File) // the identity serves on
}

func TestLinkToTheFileStaysALink(t *testing.T) {
	at := stored(t)
	elsewhere := filepath.Join(t.TempDir(), "keys.age")
	assert.NoError(t, os.Rename(at.File, elsewhere))
	if err := os.Symlink(elsewhere, at.File); err != nil {
		t.Skip("no links here:", err)
	}
	mustSet(t, headless(at), "brave", "another-key", File)
	target, err := os.Readlink(at.File)
	assert.That(t, err == nil && target == elsewhere, "the link leads to %q, error %v", target, err)
	wantKey(t, headless(at), "openai", canary)
	wantKey(t, headless(at), "brave", "another-key")
}

func TestFileThatCannotBeWrittenIsAsItWas(t *testing.T) {
	if os.Getuid() <= 0 {
		t.Skip("root may write everywhere")
	}
	at := stored(t)
	assert.NoError(t, os.Chmod(filepath.Dir(at.File), 0o500))
	_, err := headless(at).Set(t.Context(), "brave", secret("canary-of-brave"))
	assert.That(t, err != nil && !strings.Contains(err.Error(), "canary"), "error = %v", err)
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
			out, err := cmd.CombinedOutput()
			assert.That(t, err == nil, "%v: %s", err, out)
		})
	}
	all.Wait()
	at := config.KeyPlaces{File: filepath.Join(home, "keys.age"), Folder: home, Identity: filepath.Join(home, "id.txt")}
	where, err := headless(at).Where()
	assert.That(t, err == nil && len(where) == 32, "%d keys are left, error %v", len(where), err)
}

func TestWaitForAnotherWriterIsBounded(t *testing.T) {
	at := stored(t)
	root := assert.Must(os.OpenRoot(at.Folder))(t)
	defer root.Close() //nolint:errcheck // opened for the lock only
	unlock := assert.Must(files.Lock(t.Context(), root, "keys.lock", time.Second))(t)
	defer unlock()
	synctest.Test(t, func(t *testing.T) {
		_, err := headless(at).Set(t.Context(), "openai", secret(canary))
		assert.That(t, err != nil && strings.Contains(err.Error(), "another program has been writing keys"),
			"error = %v", err)
	})
}
