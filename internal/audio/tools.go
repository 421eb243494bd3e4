package audio

import (
	"os/exec"
	"path/filepath"
	"runtime"
)

// Tools are the programs of this machine that help. The zero Tools are none: what Probe finds by itself it still finds.
type Tools struct {
	FFmpeg, FFprobe string // paths; "" not there
	recorders       []Recorder

	// Salvage has Convert make what can be made of a file that ffmpeg finds damaged, in place of an error.
	Salvage bool
}

// Find looks for ffmpeg, ffprobe, arecord and sox on the PATH.
func Find() Tools {
	t := Tools{FFmpeg: located("ffmpeg"), FFprobe: located("ffprobe")}
	t.recorders = recordersOf(runtime.GOOS, t.FFmpeg, located)
	return t
}

// located is the whole path of a program, or "".
func located(name string) string {
	path, err := exec.LookPath(name)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return ""
	}
	return path
}

// Recorders are the programs that can record here, the one to try first at the front.
func (t Tools) Recorders() []Recorder { return t.recorders }
