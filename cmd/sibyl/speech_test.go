package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"sibyl/internal/behaviour/needs"
)

// spokenWords are what flite says in the tests.
const spokenWords = "Tomorrow we will talk about the money."

// speak has flite say words into a WAV file of 16 kHz.
func speak(file, words string) error {
	if err := needs.Installed("flite"); err != nil {
		return err
	}
	if out, err := exec.Command("flite", "-voice", "slt", "-t", words, file).CombinedOutput(); err != nil {
		return fmt.Errorf("flite could not speak: %w: %s", err, out)
	}
	return nil
}

// remake has ffmpeg make another file of one.
func remake(from, to string, args ...string) error {
	if err := needs.Installed("ffmpeg"); err != nil {
		return err
	}
	args = append(append([]string{"-nostdin", "-v", "error", "-y", "-i", "file:" + from}, args...), "file:"+to)
	if out, err := exec.Command("ffmpeg", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ffmpeg could not make %s: %w: %s", filepath.Base(to), err, out)
	}
	return nil
}

// speaks makes a recording: speaks FILE WORDS. What is no WAV file is made of one by ffmpeg.
func speaks(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: speaks FILE WORDS")
	}
	file := ts.MkAbs(args[0])
	if filepath.Ext(file) == ".wav" {
		ts.Check(speak(file, args[1]))
		return
	}
	ts.Check(speak(file+".wav", args[1]))
	ts.Check(remake(file+".wav", file, codecs[filepath.Ext(file)]...))
	ts.Check(os.Remove(file + ".wav"))
}

// codecs are those that phones and browsers use, where ffmpeg has others for usual.
var codecs = map[string][]string{".ogg": {"-c:a", "libopus"}, ".webm": {"-c:a", "libopus"}}

var sessionID = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d(_\d\d)?`)
})

// named puts the id of the first session on standard output into a variable.
func named(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: named VARIABLE")
	}
	id := sessionID().FindString(ts.ReadFile("stdout"))
	if id == "" {
		ts.Fatalf("there is no session on standard output")
	}
	ts.Setenv(args[0], id)
}
