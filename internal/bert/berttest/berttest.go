// Package berttest has two tiny text classification models whose verdicts are decided by words, and serves them as the
// real child process does. They are real models: an ONNX graph, a WordPiece tokenizer and a configuration, a few
// kilobytes together. Words that they know speak for labels, each occurrence by itself; a text with none of them leaves
// all labels equal.
//
// A test package that uses Config calls Serve first thing in its TestMain.
package berttest

import (
	"context"
	"embed"
	"io/fs"
	"os"
	"path"
	"time"

	"sibyl/internal/bert"
	"sibyl/internal/bert/network"
)

// The models.
const (
	// Classification knows the labels go_on (for which the word progress speaks), retry (timeout, doubtful),
	// other_strategy (looping, stuck), force_answer (done, perhaps) and ask_user (unsure, folder, think).
	Classification = "classification"
	// ZeroShot finds that a text entails a hypothesis where that has the word for one of the text: advancing for
	// progress, error for timeout, strategy for looping and stuck, enough for done, decide for unsure, question for
	// think.
	ZeroShot = "zero-shot"
)

//go:embed testdata
var models embed.FS

// Write writes a model into a folder.
func Write(dir, model string) error {
	files, err := fs.Sub(models, path.Join("testdata", model))
	if err != nil {
		return err
	}
	return os.CopyFS(dir, files)
}

// asChild is the environment variable of a test binary that is to be the child; its last argument is the folder.
const asChild = "SIBYL_TEST_CLASSIFIER_CHILD"

// Serve turns the process into the child if Config started it, and does not return then. Elsewhere it does nothing.
func Serve() {
	if os.Getenv(asChild) == "" {
		return
	}
	os.Exit(network.Main(context.Background(), os.Args[len(os.Args)-1:], os.Stdin, os.Stdout, os.Stderr))
}

// Config is the classifier of the model in dir, with the test binary as its child.
func Config(dir string) (bert.Config, error) {
	program, err := os.Executable()
	// otherwise, under the race detector, a process takes a second to end
	env := []string{asChild + "=1", "GORACE=atexit_sleep_ms=0"}
	return bert.Config{Dir: dir, Timeout: 10 * time.Second, Command: []string{program}, Env: env}, err
}
