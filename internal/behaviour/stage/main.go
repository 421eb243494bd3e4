//go:build linux

// Command stage runs a stage of the tests. It builds the binary of each package once, and keeps it for other stages; it
// runs several at once, each in its package's folder, with the environment that it has itself. It prints what a test
// that fails says, how much time of the processors each package took, and what was skipped and why; and, if bounds are
// named, which package or test took more.
//
//	stage -bin DIR [flags] [packages]
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// options are the flags.
type options struct {
	bin, build            string
	run, record, only     string
	apart                 string
	atOnce                int
	whole, each, deadline time.Duration
	buildOnly, short      bool
}

func main() {
	var o options
	flag.StringVar(&o.bin, "bin", "", "the `folder` of the binaries; what is there is not built again")
	flag.StringVar(&o.build, "build", "", "more `flags` of ‘go test -c’, by spaces")
	flag.BoolVar(&o.buildOnly, "c", false, "build, and run nothing")
	flag.BoolVar(&o.short, "short", false, "try a fifth of the random cases: it is rapid that reads -short")
	flag.StringVar(&o.run, "run", "", "run the tests that match, as with ‘go test’")
	flag.StringVar(&o.record, "record", "", "write into a `file` what was skipped")
	flag.StringVar(&o.only, "only", "", "run what such a `file` names; it has to pass")
	flag.IntVar(&o.atOnce, "p", 3, "how many packages run at once")
	flag.DurationVar(&o.whole, "whole", 0, "how much CPU time all tests and the links of their binaries may take")
	flag.DurationVar(&o.each, "each", 0, "how much CPU time a test may take; its package then runs one after the other")
	flag.StringVar(&o.apart, "apart", "", "`tests`, by commas, whose subtests are counted as tests each: files, mostly")
	flag.DurationVar(&o.deadline, "deadline", 20*time.Minute, "how long a package may take")
	flag.Parse()
	if err := stage(o, flag.Args(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "stage:", err)
		os.Exit(1)
	}
}

// stage builds and runs, and writes the report.
func stage(o options, patterns []string, w io.Writer) error {
	if o.bin == "" {
		return fmt.Errorf("name the folder of the binaries with -bin")
	}
	suites, err := list(patterns)
	if err != nil {
		return err
	}
	var wanted map[string][]string
	if o.only != "" {
		text, err := os.ReadFile(o.only)
		if err != nil {
			return err
		}
		wanted = readRecord(string(text))
		suites = among(suites, wanted)
	}
	spent, err := build(o, suites)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%d binaries are built; linking took %.1f s of CPU time\n", len(suites), spent.Seconds())
	if o.buildOnly {
		return nil
	}
	r := report{whole: o.whole, each: o.each, linking: spent, chosen: o.run != ""}
	r.outcomes = runAll(o, suites, wanted, w)
	if o.record != "" {
		if err := os.WriteFile(o.record, []byte(r.record()), 0o600); err != nil {
			return err
		}
	}
	if !r.write(w) {
		return fmt.Errorf("the stage failed, for the reasons above")
	}
	return nil
}

// among leaves the suites that have something to run.
func among(suites []suite, wanted map[string][]string) (some []suite) {
	for _, s := range suites {
		if len(wanted[s.Package]) > 0 {
			some = append(some, s)
		}
	}
	return some
}

// runAll runs several suites at a time, begun in their order, and tells of each when it has ended.
func runAll(o options, suites []suite, wanted map[string][]string, w io.Writer) []outcome {
	var telling sync.Mutex
	outcomes := make([]outcome, len(suites))
	var all sync.WaitGroup
	free := make(chan struct{}, max(1, o.atOnce))
	for i, s := range suites {
		free <- struct{}{}
		all.Go(func() {
			outcomes[i] = runOne(o, s, wanted[s.Package])
			telling.Lock()
			outcomes[i].tell(w)
			telling.Unlock()
			<-free
		})
	}
	all.Wait()
	return outcomes
}

// runOne runs the binary of a package until it ends, or until its deadline.
func runOne(o options, s suite, wanted []string) outcome {
	args := []string{"-test.v=test2json", "-test.paniconexit0", "-test.timeout=0"}
	switch {
	case wanted != nil:
		args = append(args, "-test.run="+pattern(wanted))
	case o.run != "":
		args = append(args, "-test.run="+o.run)
	}
	if o.short {
		args = append(args, "-test.short")
	}
	if o.each > 0 {
		args = append(args, "-test.parallel=1")
	}
	out := outcome{suite: s, wanted: wanted}
	cmd := exec.Command(s.binary(o.bin), args...) //nolint:noctx // it is ended with all that it started, below
	cmd.Dir = s.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	said, into, err := os.Pipe()
	if err != nil {
		out.broken = err.Error()
		return out
	}
	defer func() { _ = said.Close() }()
	cmd.Stdout, cmd.Stderr = into, into
	began := time.Now()
	err = cmd.Start()
	_ = into.Close()
	if err != nil {
		out.broken = err.Error()
		return out
	}
	reader := newReader(func() time.Duration { return spentBy(cmd.Process.Pid) }, strings.Split(o.apart, ",")...)
	ended := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		watch(cmd.Process.Pid, o.deadline, ended, &out)
	}()
	read := make(chan struct{})
	go func() {
		defer close(read)
		reader.readAll(said)
	}()
	err = cmd.Wait()
	close(ended)
	<-watched
	// What a test left behind may hold the pipe open.
	_ = said.SetReadDeadline(time.Now().Add(5 * time.Second))
	<-read
	out.finish(reader, err, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), time.Since(began))
	return out
}

// watch ends a process group when its time is over, or this process is to end.
func watch(pid int, deadline time.Duration, ended <-chan struct{}, out *outcome) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	late := time.NewTimer(deadline)
	defer late.Stop()
	select {
	case <-ended:
		return
	case <-late.C:
		out.broken = fmt.Sprintf("it did not end within %v", deadline)
	case s := <-signals:
		out.broken = "ended by " + s.String()
	}
	_ = syscall.Kill(pid, syscall.SIGQUIT) // so that it writes where it stands
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
	}
	_ = syscall.Kill(-pid, syscall.SIGKILL)
}

// spentBy is the CPU time of a process and of its children that ended.
func spentBy(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0 // it has just ended
	}
	return ticks(string(text))
}

// binary is where the binary of a suite is kept.
func (s suite) binary(folder string) string {
	return filepath.Join(folder, strings.ReplaceAll(s.Package, "/", "_")+".test")
}

// pattern is a -test.run of exactly these tests and what is below them.
func pattern(names []string) string {
	var all []string
	for _, name := range names {
		parts := strings.Split(name, "/")
		for i, p := range parts {
			parts[i] = "^" + regexp.QuoteMeta(p) + "$"
		}
		all = append(all, strings.Join(parts, "/"))
	}
	return strings.Join(all, "|")
}
