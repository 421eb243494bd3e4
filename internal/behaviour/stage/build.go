//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// suite is a package that has tests.
type suite struct {
	Package string `json:"ImportPath"`
	Dir     string
}

// list finds the suites among packages, in the order in which these are named.
func list(patterns []string) (suites []suite, err error) {
	args := append([]string{"list", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles"}, patterns...)
	cmd := exec.Command("go", args...) //nolint:noctx // it ends by itself
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			suite
			TestGoFiles, XTestGoFiles []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return suites, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 {
			suites = append(suites, p.suite)
		}
	}
}

// rounds divides suites so that no two of a round have binaries of one name, which is that of their folder.
func rounds(suites []suite) (all [][]suite) {
	taken := map[string]int{}
	for _, s := range suites {
		name := filepath.Base(s.Package)
		n := taken[name]
		taken[name]++
		if n == len(all) {
			all = append(all, nil)
		}
		all[n] = append(all[n], s)
	}
	return all
}

// build makes the binaries that are not there. It says what linking all in the folder took: what is compiled is kept by
// Go, and what is linked is not.
func build(o options, suites []suite) (linking time.Duration, err error) {
	var missing []suite
	for _, s := range suites {
		if _, err := os.Stat(s.binary(o.bin)); err != nil {
			missing = append(missing, s)
		}
	}
	if err := os.MkdirAll(o.bin, 0o700); err != nil {
		return 0, err
	}
	for _, round := range rounds(missing) {
		spent, err := buildRound(o, round)
		if err != nil {
			return 0, err
		}
		linking += spent
	}
	file := filepath.Join(o.bin, "linking")
	if text, err := os.ReadFile(file); err == nil {
		before, err := time.ParseDuration(string(text))
		if err != nil {
			return 0, fmt.Errorf("%s: %w", file, err)
		}
		linking += before
	}
	return linking, os.WriteFile(file, []byte(linking.String()), 0o600)
}

func buildRound(o options, round []suite) (linking time.Duration, err error) {
	dir, err := os.MkdirTemp(o.bin, "round-")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // it is in nobody's way
	actions := filepath.Join(dir, "actions.json")
	// Without symbols a binary is linked in half the time.
	args := append([]string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-debug-actiongraph=" + actions, "-o",
		dir + "/"}, strings.Fields(o.build)...)
	for _, s := range round {
		args = append(args, s.Package)
	}
	cmd := exec.Command("go", args...) //nolint:noctx // it ends by itself
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("go test -c: %w", err)
	}
	for _, s := range round {
		if err := os.Rename(filepath.Join(dir, filepath.Base(s.Package)+".test"), s.binary(o.bin)); err != nil {
			return 0, err
		}
	}
	text, err := os.ReadFile(actions)
	if err != nil {
		return 0, err
	}
	return links(text)
}

// links sums up what the links among the go command's actions took.
func links(actions []byte) (sum time.Duration, err error) {
	var all []struct {
		Mode            string
		CmdUser, CmdSys time.Duration
	}
	if err := json.Unmarshal(actions, &all); err != nil {
		return 0, fmt.Errorf("the go command's actions: %w", err)
	}
	for _, a := range all {
		if a.Mode == "link" {
			sum += a.CmdUser + a.CmdSys
		}
	}
	return sum, nil
}
