package speech_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/model/speech"
)

// partVar makes this program play a command: it holds the address of a stage.
const partVar = "SIBYL_TEST_SPEECH_STAGE"

func TestMain(m *testing.M) {
	if address := os.Getenv(partVar); address != "" {
		act(address)
		return
	}
	goleak.VerifyTestMain(m)
}

// call is what a command was given, and cue what it does.
type call struct {
	Args []string
	File []byte
}

type cue struct {
	Print  []byte
	Gripe  string // on its standard error
	Status int
	Die    bool // by a signal
	Hang   bool
}

// act is the command: it tells the stage what it was given, and does what it is told.
func act(address string) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		panic(err)
	}
	content, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	var do cue
	if err := json.NewEncoder(conn).Encode(call{append([]string{filepath.Base(os.Args[1])}, os.Args[2:]...), content}); err != nil {
		panic(err)
	}
	if err := json.NewDecoder(conn).Decode(&do); err != nil {
		panic(err)
	}
	_, _ = os.Stdout.Write(do.Print)
	_, _ = os.Stderr.WriteString(do.Gripe)
	switch {
	case do.Hang:
		_, _ = conn.Write([]byte("hanging"))
		_, _ = io.Copy(io.Discard, conn) // which ends with the test
	case do.Die:
		self, _ := os.FindProcess(os.Getpid())
		_ = self.Kill()
		select {}
	}
	os.Exit(do.Status)
}

// stage is where commands play.
type stage struct {
	listener       net.Listener
	hanging, ended chan struct{}
	all            sync.WaitGroup

	mu    sync.Mutex
	cues  []cue
	again bool // the last cue is for every further call
	calls []call
}

func newStage(t *testing.T, again bool, cues ...cue) *stage {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{listener: l, cues: cues, again: again, hanging: make(chan struct{}, 8), ended: make(chan struct{}, 8)}
	s.all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.all.Go(func() { s.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		s.all.Wait()
	})
	return s
}

func (s *stage) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	var got call
	if json.NewDecoder(conn).Decode(&got) != nil {
		return
	}
	do := s.take(got)
	if json.NewEncoder(conn).Encode(do) != nil || !do.Hang {
		return
	}
	if _, err := io.ReadFull(conn, make([]byte, len("hanging"))); err == nil {
		s.hanging <- struct{}{}
	}
	_, _ = io.Copy(io.Discard, conn)
	s.ended <- struct{}{}
}

func (s *stage) take(got call) cue {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, got)
	do := s.cues[0]
	if !s.again || len(s.cues) > 1 {
		s.cues = s.cues[1:]
	}
	return do
}

func (s *stage) sent() (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		all = append(all, strings.Join(c.Args, "\n")+"\n"+string(c.File))
	}
	return all
}

// command is a command that plays on s.
func (s *stage) command(t *testing.T, adjust func(*speech.Config)) *speech.Command {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := speech.Config{Command: []string{self, "{file}", "{language}", "{prompt}"}, Environ: append(os.Environ(), partVar+"="+s.listener.Addr().String(), "GORACE=atexit_sleep_ms=0"),
		Folder: t.TempDir()}
	if adjust != nil {
		adjust(&c)
	}
	t.Cleanup(func() { empty(t, c.Folder) })
	return speech.New(c)
}

// empty checks that nothing was left behind.
func empty(t *testing.T, folder string) {
	t.Helper()
	if left, err := os.ReadDir(folder); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

const mostAudio = 1 << 20

func TestCommandKeepsTheContract(t *testing.T) {
	modeltest.TranscriberSuite(t, func(t *testing.T, s modeltest.Setup) (model.Transcriber, modeltest.Subject) {
		cues, again := []cue{}, false
		for _, a := range s.Answers {
			cues, again = append(cues, cueOf(t, a)), a.Repeat
		}
		stage := newStage(t, again, cues...)
		return stage.command(t, func(c *speech.Config) { c.MaxAudio = mostAudio }), modeltest.Subject{
			Sent: stage.sent, Hanging: stage.hanging, Ended: stage.ended, MaxAudio: mostAudio, NoRetryAfter: true,
			Tells: func(all model.Transcript) model.Transcript { // what it can print
				told := model.Transcript{Text: all.Text}
				for _, s := range all.Segments {
					told.Segments = append(told.Segments, model.Segment{Start: s.Start, End: s.End, Text: s.Text})
				}
				return told
			},
		}
	})
}

func cueOf(t *testing.T, a modeltest.Answer) cue {
	switch {
	case a.Raw != nil:
		return cue{Print: []byte(a.Raw.Body)}
	case a.Fail == model.Invalid:
		return cue{Status: 1, Gripe: "no such model"}
	case a.Fail == model.Server:
		return cue{Die: true, Print: []byte("half")}
	case a.Fail != "":
		t.Skip("no command tells of " + string(a.Fail))
	case a.Break == modeltest.Cut:
		return cue{Die: true, Print: []byte("half")}
	case a.Break == modeltest.Garbage:
		return cue{Print: []byte("caf\xe9")}
	case a.Break == modeltest.Hang:
		return cue{Hang: true}
	}
	text := a.Transcript.Text
	if a.Transcript.Segments != nil {
		text = "Detected language: " + a.Transcript.Language + "\n"
		for _, s := range a.Transcript.Segments {
			text += fmt.Sprintf("[00:00:%06.3f --> 00:00:%06.3f]   %s\n", s.Start, s.End, s.Text)
		}
	}
	return cue{Print: []byte(text)}
}
