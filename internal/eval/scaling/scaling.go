// Package scaling estimates what so many users ask of nodes and a database: it lets runs come at random through a model of both, with the
// costs that were measured, and tells how much is used, how long runs wait, and what is used up first. docs/scaling.md says how the costs
// were measured, and what the model leaves out.
package scaling

import (
	"errors"
	"time"
)

// Load is what the users do.
type Load struct {
	Users     int           `json:"users"`
	RunsADay  float64       `json:"runs_a_day"` // of a user
	Peak      float64       `json:"peak"`       // the busiest hour has so many times the runs of a mean one
	Turns     int           `json:"turns"`      // of the model, in a run
	ModelTime time.Duration `json:"model_time"` // of a turn, on average
	Retention time.Duration `json:"retention"`
}

// The databases that there are costs of.
const (
	SQLite   = "sqlite"
	Postgres = "postgres"
)

// Cluster is what serves them.
type Cluster struct {
	Database      string  `json:"database"`
	Nodes         int     `json:"nodes"`
	MostRuns      int     `json:"most_runs"` // driven at once by a node
	Cores         int     `json:"cores"`     // of a node
	DatabaseCores int     `json:"database_cores"`
	Connections   int     `json:"connections"` // that the database takes
	Disk          float64 `json:"disk_gb"`
}

// Costs are what was measured of a database and of nodes on it.
type Costs struct {
	Writes      int           `json:"writes"` // of a run, each with a commit
	NodeCPU     time.Duration `json:"node_cpu"`
	DatabaseCPU time.Duration `json:"database_cpu"`
	Flush       time.Duration `json:"flush"`      // of what is committed to the disk, all at once that waits for it
	Bytes       int           `json:"run_bytes"`  // on the disk of the database, of a run
	LeaseCPU    time.Duration `json:"lease_cpu"`  // of the database, for each run that is driven: its lease each leaseEvery, how it stands each second
	LookCPU     time.Duration `json:"look_cpu"`   // of the database, of each run that is driven, for the look of one node, each second
	NotifyCPU   time.Duration `json:"notify_cpu"` // of the database, for telling one node of one write
}

// Measured are the costs on a database. Of a run: `go test ./internal/app -run x -bench Run$`, with 16 at once, medians of five rounds. Of
// leases, looks and tellings: the same with -bench Upkeep, and 1000 driven runs. The bytes are those of a question about this repository;
// PostgreSQL compresses them. The time of a flush is that of a disk in a network, and no figure of the bench.
func Measured(database string) Costs {
	c := Costs{Writes: 7, Flush: 2 * time.Millisecond, NodeCPU: 5400 * time.Microsecond, DatabaseCPU: 4 * time.Millisecond, Bytes: 25_000,
		LeaseCPU: 10 * time.Microsecond, LookCPU: 400 * time.Nanosecond, NotifyCPU: 2 * time.Microsecond}
	if database == SQLite {
		c.NodeCPU, c.DatabaseCPU, c.Bytes = 2400*time.Microsecond, 1100*time.Microsecond, 48_000
		c.LeaseCPU, c.LookCPU, c.NotifyCPU = 13*time.Microsecond, 700*time.Nanosecond, 0
	}
	return c
}

// check says what can't be estimated.
func (r Report) check() error {
	l, c, k := r.Load, r.Cluster, r.Costs
	for _, rule := range []struct {
		holds bool
		what  string
	}{
		{l.Users > 0 && l.RunsADay > 0 && l.Peak > 0, "users, runs a day and the peak must be more than 0"},
		{l.Turns >= 0 && l.Turns < k.Writes, "there must be fewer turns than writes of a run"},
		{min(c.Nodes, c.MostRuns, c.Cores, c.DatabaseCores, c.Connections) > 0 && c.Disk > 0, "nodes, runs at once, cores, connections and the disk must be more than 0"},
		{c.Database != SQLite || c.DatabaseCores == 1, "one process at a time writes to SQLite: it has one core"},
		{min(l.ModelTime, l.Retention, k.NodeCPU, k.DatabaseCPU, k.Flush, k.LeaseCPU, k.LookCPU, k.NotifyCPU) >= 0 && k.Bytes > 0, "times and sizes can't be less than 0"},
		{r.Seconds >= 10 && r.Seconds <= day, "10 seconds to a day can be played"},
	} {
		if !rule.holds {
			return errors.New(rule.what)
		}
	}
	return nil
}
