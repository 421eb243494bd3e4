package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"sibyl/internal/council/session"
)

func (c *command) councilRecord() *cobra.Command {
	var f addFlags
	var most time.Duration
	var later bool
	cmd := &cobra.Command{Use: "record", Short: "Record with this machine's microphone, until Ctrl-C",
		Args: cobra.NoArgs,
		RunE: c.onCouncil(func(ctx context.Context, s councilSession, _ []string) error {
			all := s.a.Recorders()
			if len(all) == 0 {
				return withCode(ExitFailed,
					errors.New("found no program that can record: install arecord (alsa-utils), ffmpeg or sox, or "+
						"add a recording made elsewhere with ‘sibyl council add FILE’"))
			}
			s.mentionRecordings()
			if err := s.openOrCreate(ctx, f.session, f.fresh); err != nil {
				return err
			}
			file := filepath.Join(s.a.Recordings(), s.ID+"_"+time.Now().UTC().Format("20060102T150405.000")+".wav")
			if err := os.MkdirAll(s.a.Recordings(), 0o700); err != nil {
				return err
			}
			s.note("recording with %s for at most %s: Ctrl-C ends it", all[0].Name, most)
			recorded := all[0].Record(ctx, file, most)
			return s.deleteIfUnused(ctx, s.addRecording(context.WithoutCancel(ctx), file, recorded, later))
		})}
	cmd.Flags().DurationVar(&most, "max", time.Hour, "maximum length of the recording")
	cmd.Flags().BoolVar(&later, "later", false, "don't transcribe yet")
	return c.withView(f.addTo(cmd), "one JSON object")
}

// addRecording adds a recording to the session, even one that ended early, then removes its file and transcribes it
// unless later is true. If it can't be added, the file stays.
func (s *councilSession) addRecording(ctx context.Context, file string, recorded error, later bool) error {
	if _, err := os.Stat(file); err != nil {
		return withCode(ExitFailed, cmp.Or(recorded, err))
	}
	one, err := s.addFile(ctx, file)
	if err != nil {
		return withCode(ExitFailed,
			errors.Join(recorded, fmt.Errorf("‘sibyl council add %s’ adds the recording: %w", file, err)))
	}
	if err := os.Remove(file); err != nil {
		s.note("%v", err)
	}
	if recorded != nil {
		recorded = withCode(ExitPartial, fmt.Errorf("the recording ended early but was kept: %w", recorded))
	}
	return s.reportAndTranscribe(ctx, []session.Added{one}, later, recorded)
}

// recordingNow is how long after its last write a recording may still be in progress.
const recordingNow = time.Minute

// mentionRecordings prints a notice for each finished recording that was added to no session.
func (s *councilSession) mentionRecordings() {
	left, _ := filepath.Glob(filepath.Join(s.a.Recordings(), "*.wav")) // the pattern is well formed
	for _, file := range left {
		if info, err := os.Stat(file); err == nil && time.Since(info.ModTime()) > recordingNow {
			s.note("a recording was not added to any session: ‘sibyl council add %s’ adds it", file)
		}
	}
}
