package telemetry

import (
	"bytes"
	"context"
	"os"
	"runtime"
	"strconv"
	"time"

	"sibyl/internal/telemetry/metric"
)

// process reads what the process takes of its machine, under the names of Prometheus' own clients. What the system does not tell is left
// out.
func process(context.Context) []metric.Sample {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	samples := []metric.Sample{
		{Name: "go_goroutines", Help: "Goroutines that there are.", Value: float64(runtime.NumGoroutine())},
		{Name: "go_memstats_heap_inuse_bytes", Help: "Bytes of the heap that are in use.", Value: float64(m.HeapInuse)},
		{Name: "go_memstats_sys_bytes", Help: "Bytes that were taken from the system.", Value: float64(m.Sys)},
		{Name: "go_gc_pause_seconds_total", Help: "How long all was stopped to collect garbage.", Value: time.Duration(m.PauseTotalNs).Seconds()},
	}
	if files, err := os.ReadDir("/proc/self/fd"); err == nil {
		samples = append(samples, metric.Sample{Name: "process_open_fds", Help: "Files that are open.", Value: float64(len(files))})
	}
	if resident, ok := field("/proc/self/statm", 1); ok {
		samples = append(samples, metric.Sample{Name: "process_resident_memory_bytes", Help: "Bytes of memory that are resident.", Value: resident * float64(os.Getpagesize())})
	}
	user, ok := field("/proc/self/stat", 13)
	if system, both := field("/proc/self/stat", 14); ok && both {
		samples = append(samples, metric.Sample{Name: "process_cpu_seconds_total", Help: "Time that the processors spent.", Value: (user + system) / ticks})
	}
	return samples
}

// ticks are those of a second in which Linux tells the time of processors to programs.
const ticks = 100

// field is a number in a line of the system's. A name in brackets, which may hold spaces, counts as one field.
func field(file string, at int) (float64, bool) {
	line, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	if i := bytes.LastIndexByte(line, ')'); i >= 0 {
		line = append([]byte("0 0"), line[i+1:]...) // the number of the process, and its name
	}
	fields := bytes.Fields(line)
	if at >= len(fields) {
		return 0, false
	}
	n, err := strconv.ParseFloat(string(fields[at]), 64)
	return n, err == nil
}
