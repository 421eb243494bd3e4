package store

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
)

// The test binary started with roleEnv is another process that works on the database in placeEnv.
const (
	roleEnv  = "SIBYL_STORE_TEST_ROLE"
	placeEnv = "SIBYL_STORE_TEST_PLACE"
	nameEnv  = "SIBYL_STORE_TEST_NAME"
)

// beAnotherProcess does what another process is to do, if this is one.
func beAnotherProcess() bool {
	role := map[string]func(context.Context, *DB) error{
		"create": create, "compete": compete, "write": writeForEver,
	}[os.Getenv(roleEnv)]
	if role == nil {
		return false
	}
	if err := work(role); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return true
}

func work(role func(context.Context, *DB) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil { // until the parent says go
		return err
	}
	db, err := opened(ctx, os.Getenv(placeEnv))
	if err != nil {
		return err
	}
	return errors.Join(role(ctx, db), db.Close())
}

// contested is how many records competing processes write.
const contested = 150

// create makes a session with a run.
func create(ctx context.Context, db *DB) error {
	return db.Begin(ctx, beginning(journal.Session{ID: os.Getenv(nameEnv), Owner: "ada"}))
}

// compete appends records to run "run" until it has all of the contested ones, and prints the numbers it won.
func compete(ctx context.Context, db *DB) error {
	for {
		run, err := db.Run(ctx, "ada", "run")
		if err != nil || run.Records > contested {
			return err
		}
		rec := journal.Record{Seq: run.Records, Kind: os.Getenv(nameEnv)}
		switch err := db.Append(ctx, "ada", "run", []journal.Record{rec}, nil); {
		case err == nil:
			fmt.Println(rec.Seq)
		case !errors.Is(err, journal.ErrConflict):
			return err
		}
	}
}

// writeForEver begins runs in sessions of their own and goes on with each, several at once, and prints how many it has
// written whole.
func writeForEver(ctx context.Context, db *DB) error {
	written := make(chan error)
	for writer := range 8 {
		go func() {
			for i := 0; ; i++ {
				b := beginning(journal.Session{ID: fmt.Sprintf("%s %d %d", os.Getenv(nameEnv), writer, i),
					Owner: "ada"})
				b.Records, b.Claims, b.Blobs = []journal.Record{{Data: dataOf(0)}}, []string{b.Run.ID},
					[][]byte{[]byte("tree"), []byte(b.Run.ID)}
				err := db.Begin(ctx, b)
				if err == nil {
					err = db.Append(ctx, "ada", b.Run.ID, []journal.Record{{Seq: 1, Data: dataOf(1)},
						{Seq: 2, Data: dataOf(2)}, {Seq: 3, Data: dataOf(3)}}, nil)
				}
				written <- err
			}
		}()
	}
	for n := 1; ; n++ {
		if err := <-written; err != nil {
			return err
		}
		fmt.Println(n)
	}
}

func dataOf(seq int64) json.RawMessage {
	return json.RawMessage(`"` + strings.Repeat(strconv.FormatInt(seq, 10), 500) + `"`)
}

type child struct {
	*exec.Cmd
	stdin  io.Writer
	stdout *bufio.Scanner
}

func startChild(t *testing.T, role, address, name string) child {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"="+role, placeEnv+"="+address, nameEnv+"="+name)
	cmd.Stderr = os.Stderr
	stdin := assert.Must(cmd.StdinPipe())(t)
	stdout := assert.Must(cmd.StdoutPipe())(t)
	assert.NoError(t, cmd.Start())
	return child{Cmd: cmd, stdin: stdin, stdout: bufio.NewScanner(stdout)}
}

func (c child) goOn(t *testing.T) {
	t.Helper()
	assert.Must(io.WriteString(c.stdin, "go\n"))(t)
}

// number returns the next number that the child prints, and false at the end of its output.
func (c child) number(t *testing.T) (int64, bool) {
	t.Helper()
	if !c.stdout.Scan() {
		return 0, false
	}
	n, err := strconv.ParseInt(c.stdout.Text(), 10, 64)
	assert.That(t, err == nil, "a child says %q", c.stdout.Text())
	return n, true
}

func TestOfCompetingProcessesOneGetsEachNumber(t *testing.T) {
	both(t, func(t *testing.T, place func(testing.TB) string) {
		address := place(t)
		db := openedAt(t, address)
		begin(t, db, 1)
		var mu sync.Mutex
		winner := make(map[int64]string)
		var children []child
		for i := range 3 {
			children = append(children, startChild(t, "compete", address, fmt.Sprint("process ", i)))
		}
		var all sync.WaitGroup
		for i, c := range children {
			c.goOn(t)
			all.Go(func() {
				for seq, ok := c.number(t); ok; seq, ok = c.number(t) {
					mu.Lock()
					other, taken := winner[seq]
					assert.That(t, !taken, "process %d and %s both won record %d", i, other, seq)
					winner[seq] = fmt.Sprint("process ", i)
					mu.Unlock()
				}
				assert.Nilf(t, c.Wait(), "process %d", i)
			})
		}
		all.Wait()
		recs, err := db.Records(t.Context(), "ada", "run", 1)
		assert.Require(t, err == nil && len(recs) == contested, "%d records, error %v, want %d", len(recs), err, contested)
		for _, rec := range recs {
			assert.That(t, rec.Kind == winner[rec.Seq],
				"record %d is by %q, but %q was told it won", rec.Seq, rec.Kind, winner[rec.Seq])
		}
	})
}

// killAfter kills a child that has printed so many numbers, and returns the last that it printed.
func killAfter(t *testing.T, c child, numbers int) (last int64) {
	t.Helper()
	for range numbers {
		n, ok := c.number(t)
		assert.Require(t, ok, "the child ended by itself")
		last = n
	}
	assert.NoError(t, c.Process.Kill())
	for n, ok := c.number(t); ok; n, ok = c.number(t) {
		last = n
	}
	_ = c.Wait() // it was killed
	return last
}

func TestKilledProcessLosesNothingItAcknowledgedAndLeavesNothingByHalves(t *testing.T) {
	both(t, func(t *testing.T, place func(testing.TB) string) {
		address := place(t)
		db := openedAt(t, address)
		var acknowledged int64
		for round, acknowledgements := range []int{1, 2, 7, 100, 30, 3} {
			c := startChild(t, "write", address, fmt.Sprint("round ", round))
			c.goOn(t)
			acknowledged += killAfter(t, c, acknowledgements)
			sessions := assert.Must(db.Sessions(t.Context(), "ada", journal.SessionFilter{Limit: 1_000_000}))(t)
			var whole int64
			for _, s := range sessions {
				run := "run of " + s.ID
				recs, err := db.Records(t.Context(), "ada", run, 0)
				claimed, claimErr := db.Claimed(t.Context(), "ada", run)
				_, blobErr := db.Blob(t.Context(), "ada", journal.BlobHash([]byte(run)))
				if err := errors.Join(err, claimErr, blobErr); s.Runs != 1 || len(recs) != 1 && len(recs) != 4 ||
					claimed != run || err != nil {
					t.Errorf("session %q has %d runs, its first %d records and the claim of %q, error %v", s.ID, s.Runs,
						len(recs), claimed, err)
				}
				for _, rec := range recs {
					assert.Require(t, string(rec.Data) == string(dataOf(rec.Seq)),
						"round %d: record %d of %s came back changed", round, rec.Seq, run)
				}
				if len(recs) == 4 {
					whole++
				}
			}
			assert.That(t, whole >= acknowledged,
				"round %d: %d are whole, want the %d acknowledged at least", round, whole, acknowledged)
			sound(t, db)
		}
	})
}

func TestProcessesThatStartTogetherOnANewDatabaseAllGetIt(t *testing.T) {
	both(t, func(t *testing.T, place func(testing.TB) string) {
		for range 5 {
			address := place(t)
			var children []child
			for i := range 4 {
				children = append(children, startChild(t, "create", address, fmt.Sprint("session ", i)))
			}
			for _, c := range children {
				c.goOn(t)
			}
			for i, c := range children {
				assert.Nilf(t, c.Wait(), "process %d", i)
			}
			if sessions, err := openedAt(t, address).Sessions(t.Context(), "ada",
				journal.SessionFilter{}); err != nil || len(sessions) != len(children) {
				t.Errorf("%d sessions, error %v, want %d", len(sessions), err, len(children))
			}
		}
	})
}
