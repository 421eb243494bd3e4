package code

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/tool"
)

func TestWrongArgumentsAreNamedWithTheRightOnes(t *testing.T) {
	r, _ := rootOf(t, map[string]string{"a.go": "package a\n"})
	for _, c := range []struct{ tool, args, want string }{
		{"code_search", `{"query":"?!"}`, "there is no word to look for"},
		{"code_search", `{"query":"(","regex":true}`, "no regular expression"},
		{"code_search", `{"query":"x*","regex":true}`, "matches every line"},
		{"code_search", `{"query":"` + strings.Repeat("word ", 1000) + `"}`, "query has 5000 bytes"},
		{"code_symbol", `{"symbol":" "}`, "symbol is missing"},
		{"code_symbol", `{"symbol":"Server."}`, "there is no symbol"},
		{"repo_map", `{"depth":9}`, "depth must be a whole number from 1 to 8"},
	} {
		_, err := call(t, r, c.tool, c.args)
		assert.That(t, kindOf(err) == tool.InvalidArgs && strings.Contains(err.Error(), c.want),
			"%s %s: %v, want %q", c.tool, c.args, err, c.want)
	}
}

// everyCall has arguments for each tool that find something in a folder with a.go, under git.
var everyCall = map[string]string{
	"code_search": `{"query":"alpha"}`, "code_symbol": `{"symbol":"alpha"}`, "code_read": `{"path":"a.go"}`,
	"repo_map": `{}`, "code_history": `{}`,
}

func TestEveryToolOnlyReadsMayBeCalledAtTheSameTimeAndStopsWithItsContext(t *testing.T) {
	r, dir := rootOf(t, map[string]string{"a.go": "package a\n\nvar alpha int\n"})
	commitAll(t, dir)
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	late, cancelLate := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer cancelLate()
	tools := r.Tools()
	errs := make(chan error, 10*len(tools))
	for range 10 {
		for _, tl := range tools {
			go func() {
				res, err := tl.Call(context.Background(), tool.Call{Args: json.RawMessage(everyCall[tl.Spec().Name])})
				if err == nil && res.Items == 0 && tl.Spec().Name != "repo_map" {
					err = fmt.Errorf("%s found nothing", tl.Spec().Name)
				}
				errs <- err
			}()
		}
	}
	for range cap(errs) {
		err := <-errs
		assert.That(t, err == nil, "%v", err)
	}
	for _, tl := range tools {
		spec := tl.Spec()
		assert.That(t, spec.Source == tool.Code && spec.Effect == tool.Repeatable && !spec.Foreign && spec.Description != "",
			"%+v", spec)
		args := json.RawMessage(everyCall[spec.Name])
		_, err := tl.Call(cancelled, tool.Call{Args: args})
		assert.That(t, kindOf(err) == tool.Cancelled, "%s, cancelled: %v", spec.Name, err)
		_, err = tl.Call(late, tool.Call{Args: args})
		assert.That(t, kindOf(err) == tool.Timeout, "%s, too late: %v", spec.Name, err)
	}
}
