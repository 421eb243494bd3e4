package vault

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/files"
	"sibyl/internal/tool"
)

// The folders in which the writes keep their intents and receipts.
const (
	receiptDir = stateDir + "/ops"
	intentDir  = stateDir + "/pending"
)

func receiptFile(key string) string {
	sum := sha256.Sum256([]byte(key))
	return receiptDir + "/" + hex.EncodeToString(sum[:]) + ".json"
}

// verdict is what can be told of a write that a crash met.
type verdict int

const (
	unknown verdict = iota
	performed
	notPerformed
)

func find(t testing.TB, v *Vault, name, key string, args any) (tool.Result, bool, error) {
	t.Helper()
	return toolNamed(v, name).(tool.Finder).Found(t.Context(), tool.Call{Key: key, Args: encode(t, args)})
}

func TestSecondCallWithAKeyGivesTheFirstResult(t *testing.T) {
	for name, args := range map[string]object{
		"vault_write": {"path": "a.md", "mode": "append", "content": "once"},
		"thread_push": {"thread": "log", "text": "once"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, map[string]string{"a.md": "x\n"})
			v := open(t, dir)
			_, done, err := find(t, v, name, "k", args)
			assert.Require(t, !done && err == nil, "found before the call: %v, %v", done, err)
			first := mustCallOnce(t, v, name, "k", args)
			after := contents(t, dir)
			// What others do since does not matter: the receipt remembers.
			mustCallOnce(t, v, name, "other", args)
			later := contents(t, dir)
			assert.Require(t, !cmp.Equal(after, later), "another key performed nothing")
			second := mustCallOnce(t, open(t, dir), name, "k", args)
			found, done, err := find(t, v, name, "k", args)
			assert.That(t, done && err == nil, "Found = %v, %v", done, err)
			for _, got := range []tool.Result{second, found} {
				assert.Same(t, first, got)
			}
			assert.Same(t, later, contents(t, dir))
		})
	}
}

func TestKeyIsForOneCallOnly(t *testing.T) {
	v := vaultOf(t, nil)
	mustCallOnce(t, v, "thread_push", "k", object{"thread": "log", "text": "one"})
	for name, args := range map[string]any{
		"thread_push": object{"thread": "log", "text": "two"},
		"vault_write": object{"path": "a.md", "mode": "create", "content": "x"},
	} {
		_, err := callTool(t, v, name, "k", args)
		wantError(t, err, tool.Conflict, "already used")
		_, _, err = find(t, v, name, "k", args)
		assert.That(t, err != nil, "%s: Found tells of another call", name)
	}
	// The same arguments in another spelling are the same call.
	mustCallOnce(t, v, "thread_push", "k", `{ "text":"\u006fne","thread" : "log", "title": ""}`)
	_, err := callTool(t, v, "thread_push", "", object{"thread": "log", "text": "x"})
	wantError(t, err, tool.Failed, "idempotency key")
}

// crashAt performs a call that ends, as by a crash, at a step of the write: only the lock is given back.
func crashAt(t testing.TB, v *Vault, step, name, key string, args any) (crashed bool) {
	t.Helper()
	type crash struct{}
	v.writes.Step = func(s string) {
		if s == step {
			panic(crash{})
		}
	}
	defer func() {
		v.writes.Step = func(string) {}
		if p := recover(); p != nil {
			if _, crashed = p.(crash); !crashed {
				panic(p)
			}
		}
	}()
	_, _ = toolNamed(v, name).Call(t.Context(), tool.Call{Key: key, Args: encode(t, args)})
	return false
}

func TestWhatOthersDoAfterACrashIsToldApart(t *testing.T) {
	appended := object{"path": "a.md", "mode": "append", "content": "mine"}
	replaced := object{"path": "a.md", "mode": "replace", "content": "old\nmine",
		"base_hash": files.Hash([]byte("old\nmine\nrest\n"))}
	pushed := object{"thread": "log", "text": "mine"}
	tests := []struct {
		name, tool, step string
		args             object
		edit             func(old string) string
		verdict          verdict
	}{
		{"appended, then a line below", "vault_write", "placed", appended, func(s string) string {
			return s + "more\n"
		}, performed},
		{"appended, then edited above", "vault_write", "placed", appended, func(s string) string {
			return "more\n" + s
		}, unknown},
		{"not appended, then edited", "vault_write", "intent", appended, func(s string) string {
			return s + "more\n"
		}, unknown},
		{"not appended, untouched", "vault_write", "intent", appended, nil, notPerformed},
		{"appended, untouched", "vault_write", "placed", appended, nil, performed},
		{"appended, then deleted", "vault_write", "placed", appended, func(string) string { return "" }, unknown},
		{"not replaced, then a line below", "vault_write", "intent", replaced, func(s string) string {
			return s + "more\n"
		}, unknown},
		{"pushed, then edited above", "thread_push", "placed", pushed, func(s string) string {
			return "more\n" + s
		}, performed},
		{"pushed, then taken out", "thread_push", "placed", pushed, func(string) string { return "empty\n" }, unknown},
		{"not pushed, then edited", "thread_push", "intent", pushed, func(s string) string {
			return s + "more\n"
		}, unknown},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			file := map[string]string{"vault_write": "a.md", "thread_push": "threads/log.md"}[test.tool]
			dir := folder(t, map[string]string{file: "old\nmine\nrest\n"})
			v := open(t, dir)
			assert.Require(t, crashAt(t, v, test.step, test.tool, "k", test.args), "the call did not reach the step")
			if test.edit != nil {
				if changed := test.edit(contents(t, dir)[file]); changed == "" {
					assert.NoError(t, os.Remove(filepath.Join(dir, file)))
				} else {
					writeFile(t, filepath.Join(dir, file), changed)
				}
			}
			before := contents(t, dir)
			_, done, err := find(t, v, test.tool, "k", test.args)
			assert.That(t, (err != nil) == (test.verdict == unknown) && done == (test.verdict == performed),
				"Found = %v, %v; want verdict %d", done, err, test.verdict)
			_, err = callTool(t, v, test.tool, "k", test.args)
			switch test.verdict {
			case unknown:
				wantError(t, err, tool.Conflict, "cannot be told")
				// The doubt about one call keeps no other from being done.
				mustCallOnce(t, v, "vault_write", "other", object{"path": "other.md", "mode": "create", "content": "x"})
				delete(before, "other.md")
			case performed, notPerformed:
				assert.NoError(t, err)
			}
			after := contents(t, dir)
			delete(after, "other.md")
			if unchanged := cmp.Equal(before, after); unchanged == (test.verdict == notPerformed) {
				t.Errorf("unchanged %v: %s", unchanged, cmp.Diff(before, after))
			}
		})
	}
}

// A second write that brings a note back to where it was does not make the first one undone.
func TestWriteThatWasUndoneByAnotherStaysPerformed(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "x\n"})
	v := open(t, dir)
	there := object{"path": "a.md", "mode": "replace", "content": "y", "base_hash": files.Hash([]byte("x\n"))}
	back := object{"path": "a.md", "mode": "replace", "content": "x", "base_hash": files.Hash([]byte("y\n"))}
	assert.Require(t, crashAt(t, v, "placed", "vault_write", "there", there), "no crash")
	mustCallOnce(t, v, "vault_write", "back", back)
	_, done, err := find(t, v, "vault_write", "there", there)
	assert.That(t, done && err == nil, "Found = %v, %v", done, err)
	mustCallOnce(t, v, "vault_write", "there", there)
	assert.Equalf(t, contents(t, dir)["a.md"], "x\n", "the first write was repeated")
}

func TestCancelledBeforeThePlaceIsTakenChangesNothing(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "old\n"})
	ctx, cancel := context.WithCancel(t.Context())
	v := open(t, dir, func(v *Vault) {
		v.writes.Step = func(step string) {
			if step == "intent" {
				cancel()
			}
		}
	})
	call := tool.Call{Key: "k", Args: encode(t, object{"path": "a.md", "mode": "append", "content": "x"})}
	_, err := toolNamed(v, "vault_write").Call(ctx, call)
	wantError(t, err, tool.Cancelled)
	assert.Same(t, map[string]string{"a.md": "old\n"}, contents(t, dir))
	left, err := os.ReadDir(filepath.Join(dir, intentDir))
	assert.That(t, err == nil && len(left) == 0, "intents left: %v (%v)", left, err)
}

func TestDamagedReceiptCannotTell(t *testing.T) {
	dir := folder(t, nil)
	v := open(t, dir)
	args := object{"path": "a.md", "mode": "create", "content": "x"}
	mustCallOnce(t, v, "vault_write", "k", args)
	writeFile(t, filepath.Join(dir, receiptFile("k")), "{")
	_, _, err := find(t, v, "vault_write", "k", args)
	wantError(t, err, tool.Failed, "damaged")
	_, err = callTool(t, v, "vault_write", "k", args)
	wantError(t, err, tool.Failed, "damaged")
}

func TestStateFolderThatIsALinkIsRefused(t *testing.T) {
	dir := folder(t, map[string]string{"sub/a.md": "x"})
	if err := os.Symlink("sub", filepath.Join(dir, stateDir)); err != nil {
		t.Skip("no symbolic links here")
	}
	_, err := callTool(t, open(t, dir), "thread_push", "k", object{"thread": "log", "text": "x"})
	wantError(t, err, tool.Denied, "not a folder")
	assert.Same(t, map[string]string{"a.md": "x"}, contents(t, filepath.Join(dir, "sub")))
}

func TestLockedVaultTimesOutAndCanBeCancelled(t *testing.T) {
	dir := folder(t, nil)
	holder := open(t, dir)
	unlock := assert.Must(holder.writes.Lock(t.Context()))(t)
	args := object{"thread": "log", "text": "x"}
	waiter := open(t, dir, func(v *Vault) { v.writes.LockWait = 20 * time.Millisecond })
	_, err := callTool(t, waiter, "thread_push", "k", args)
	wantError(t, err, tool.Timeout, "another program")
	_, _, err = find(t, waiter, "thread_push", "k", args)
	wantError(t, err, tool.Timeout, "another program")
	_, err = callTool(t, open(t, dir, func(v *Vault) {
		v.writes.LockWait = 20 * time.Millisecond
	}), "vault_list", "", object{})
	assert.That(t, err == nil, "a reader waits for the lock: %v", err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = toolNamed(open(t, dir), "thread_push").Call(ctx, tool.Call{Key: "k", Args: encode(t, args)})
	wantError(t, err, tool.Timeout, "time ran out")
	unlock()
	mustCallOnce(t, waiter, "thread_push", "k", args)
}

func TestConcurrentCallsWithOneKeyPerformOnce(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": ""})
	v, w := open(t, dir), open(t, dir) // two programs, as far as the lock file goes
	results := make([]tool.Result, 8)
	var wait sync.WaitGroup
	for i := range results {
		wait.Go(func() {
			on := map[bool]*Vault{true: v, false: w}[i%2 == 0]
			var err error
			results[i], err = toolNamed(on, "vault_write").Call(t.Context(), tool.Call{
				Key: "k", Args: json.RawMessage(`{"path": "a.md", "mode": "append", "content": "once"}`),
			})
			assert.Nil(t, err)
		})
	}
	wait.Wait()
	assert.Equal(t, contents(t, dir)["a.md"], "once\n")
	for _, res := range results[1:] {
		assert.Same(t, results[0], res)
	}
}
