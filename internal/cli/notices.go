package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"sibyl/internal/agent"
	"sibyl/internal/oracle"
)

// noticeLine is one line of the file of notices.
type noticeLine struct {
	At      time.Time `json:"at"`
	Session string    `json:"session_id"`
	Run     string    `json:"run_id"`
	agent.Notice
}

// checkNotices says, before anything is asked, what would keep a file from taking notices.
func checkNotices(path string) error {
	switch path {
	case "":
		return nil
	case "-":
		return errors.New("--notices is -: name a file; the notices are also in what --json prints")
	}
	f, err := openNotices(path)
	if err != nil {
		return fmt.Errorf("--notices: %w", err)
	}
	return f.Close()
}

func openNotices(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
}

// appendNotices keeps the notices of an answer, each in one write, so that several programs may share the file.
func appendNotices(path string, a oracle.Answer, at time.Time) (err error) {
	if path == "" || len(a.Notices) == 0 {
		return nil
	}
	f, err := openNotices(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for _, n := range a.Notices {
		line, err := json.Marshal(noticeLine{At: at.UTC(), Session: a.SessionID, Run: a.RunID, Notice: n})
		if err != nil {
			return fmt.Errorf("notice %s: %w", n.Type, err)
		}
		if _, err := f.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}
