package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"sibyl/internal/service"
)

// noticeLine is the beginning of a line in the file of notices; the fields of the notice follow.
type noticeLine struct {
	At      time.Time `json:"at"`
	Session string    `json:"session_id"`
	Run     string    `json:"run_id"`
}

// checkNotices gives an error if notices can't be appended to a file, which it creates if missing; "" is no file.
func checkNotices(path string) error {
	switch path {
	case "":
		return nil
	case "-":
		return errors.New("--notices can't be -: name a file; --json prints the notices as well")
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

// appendNotices appends the notices of a run to a file, each in one write, so that several programs may share it.
func appendNotices(path string, r *service.Run, res service.Result, at time.Time) (err error) {
	if path == "" || len(res.Notices) == 0 {
		return nil
	}
	f, err := openNotices(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	where, err := json.Marshal(noticeLine{At: at.UTC(), Session: r.Session, Run: r.ID})
	if err != nil {
		return err
	}
	for _, n := range res.Notices {
		notice, err := json.Marshal(n)
		if err != nil {
			return fmt.Errorf("notice: %w", err)
		}
		line := append(where[:len(where)-1:len(where)-1], ',')
		if _, err := f.Write(append(append(line, notice[1:]...), '\n')); err != nil {
			return err
		}
	}
	return nil
}
