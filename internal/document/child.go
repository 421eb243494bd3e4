package document

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	maxMemory = 1 << 30     // bytes that a child may use
	maxStack  = 128 << 20   // bytes of its stack
	aftermath = time.Second // how long output is waited for that something holds open
	maxAnswer = 3 * MaxText // bytes of what a child says
	exhausted = 3           // how a child ends that would use more memory
	looking   = 5 * time.Millisecond
)

// reply is what a child says of a PDF.
type reply struct {
	Extract extract `json:"extract"`
	Reason  Reason  `json:"reason,omitempty"` // of its refusal
	Text    string  `json:"text,omitempty"`
}

// Serve is the process of Reader.Command: it reads a PDF from in and writes what is in it to out. It ends the process when the PDF takes too
// much memory. The error is one of in or out.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	debug.SetMaxStack(maxStack)
	debug.SetMemoryLimit(maxMemory / 2)
	done := make(chan struct{})
	defer close(done)
	go watchMemory(done)
	content, err := io.ReadAll(io.LimitReader(in, MaxFile+1))
	if err != nil {
		return err
	}
	var r reply
	r.Extract, err = extractPDF(ctx, content)
	if e, ok := errors.AsType[*Error](err); ok {
		r.Reason, r.Text = e.Reason, e.text
	} else if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(r)
}

// watchMemory ends the process when it uses too much.
func watchMemory(done <-chan struct{}) {
	used := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	tick := time.NewTicker(looking)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			if metrics.Read(used); used[0].Value.Uint64() > maxMemory {
				os.Exit(exhausted)
			}
		}
	}
}

// readApart reads a PDF in a process of its own. However that ends, it is an error of this file alone.
func readApart(ctx context.Context, command []string, content []byte) (extract, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	alone(cmd)
	cmd.WaitDelay = aftermath
	cmd.Stdin = bytes.NewReader(content)
	out := &bounded{most: maxAnswer}
	cmd.Stdout = out
	err := cmd.Run()
	var r reply
	exit, ended := errors.AsType[*exec.ExitError](err)
	switch {
	case ctx.Err() != nil:
		return extract{}, ctx.Err()
	case out.over:
		return extract{}, refuse(TooLarge, "it holds more than %d MB of text; split it", MaxText>>20)
	case ended && exit.ExitCode() == exhausted:
		return extract{}, refuse(TooLarge, "reading it would take more than %d MB of memory; it may be damaged: open it and save it anew", maxMemory>>20)
	case ended:
		return extract{}, refuse(Damaged, "it ended the process that read it (%s); open it and save it anew", exit)
	case err != nil:
		return extract{}, fmt.Errorf("%s could not be started to read PDFs: %w", filepath.Base(command[0]), err)
	case json.Unmarshal(out.Bytes(), &r) != nil:
		return extract{}, refuse(Damaged, "the process that read it gave no answer; open it and save it anew")
	case r.Reason != "":
		return extract{}, &Error{Reason: r.Reason, text: r.Text}
	}
	return r.Extract, nil
}

// bounded keeps the beginning of what is written to it.
type bounded struct {
	bytes.Buffer
	most int
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.most {
		b.over = true
		return 0, errors.New("too much")
	}
	return b.Buffer.Write(p)
}
