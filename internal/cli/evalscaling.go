package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"sibyl/internal/config"
	"sibyl/internal/eval/scaling"
)

func (c *command) evalScaling() *cobra.Command {
	load := scaling.Load{Turns: 3}
	var cluster scaling.Cluster
	var given scaling.Costs
	var retention string
	var seconds float64
	var seed uint64
	cmd := &cobra.Command{Use: "scaling", Short: "Estimate what so many users need, and what is used up first", Args: cobra.NoArgs,
		Long: "Plays the busiest hour of so many users through a model of the nodes and their database, with costs that were measured, and prints how much\n" +
			"of everything is used, how long runs wait, and the first limit. docs/scaling.md says how the costs were measured, and what the\nmodel leaves out. The same seed gives the same figures.",
		Example: "  sibyl eval scaling --users 1000 --nodes 3\n  sibyl eval scaling --users 10 --nodes 1 --on sqlite",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if load.Retention, err = config.Age(retention); err != nil {
				return withCode(ExitUsage, fmt.Errorf("--retention is %q: it takes days such as 365d", retention))
			}
			if cluster.Database != scaling.Postgres && cluster.Database != scaling.SQLite {
				return withCode(ExitUsage, fmt.Errorf("--on is %q, not %s or %s", cluster.Database, scaling.Postgres, scaling.SQLite))
			}
			if !cmd.Flags().Changed("database-cores") && cluster.Database == scaling.SQLite {
				cluster.DatabaseCores = 1
			}
			costs := scaling.Measured(cluster.Database)
			if cmd.Flags().Changed("run-bytes") {
				costs.Bytes = given.Bytes
			}
			for _, f := range costFlags() {
				if cmd.Flags().Changed(f.name) {
					*f.at(&costs) = *f.at(&given)
				}
			}
			report, err := scaling.Estimate(load, cluster, costs, seconds, seed)
			if err != nil {
				return withCode(ExitUsage, err)
			}
			return c.printReport(report)
		}}
	flags := cmd.Flags()
	flags.IntVar(&load.Users, "users", 1000, "those who use it")
	flags.Float64Var(&load.RunsADay, "runs-a-day", 20, "runs of a user in a day")
	flags.Float64Var(&load.Peak, "peak", 5, "the busiest hour has so many times the runs of a mean one")
	flags.DurationVar(&load.ModelTime, "model-time", 8*time.Second, "how long the model takes for a turn; a run has three")
	flags.StringVar(&retention, "retention", "365d", "how long runs are kept")
	flags.IntVar(&cluster.Nodes, "nodes", 3, "processes that serve")
	flags.IntVar(&cluster.MostRuns, "most-runs", 16, "runs driven at once by a node, as the setting server.most_runs")
	flags.IntVar(&cluster.Cores, "cores", 2, "processors of a node")
	flags.StringVar(&cluster.Database, "on", scaling.Postgres, "the database: "+scaling.Postgres+" or "+scaling.SQLite)
	flags.IntVar(&cluster.DatabaseCores, "database-cores", 4, "processors of the database")
	flags.IntVar(&cluster.Connections, "connections", 100, "connections that the database takes, as max_connections of PostgreSQL")
	flags.Float64Var(&cluster.Disk, "disk", 500, "GB that the database has")
	flags.Float64Var(&seconds, "seconds", 0, "how long is played (default: until 20,000 runs have come, between 10 minutes and a day)")
	flags.Uint64Var(&seed, "seed", 1, "of the random times")
	postgres, sqlite := scaling.Measured(scaling.Postgres), scaling.Measured(scaling.SQLite)
	flags.IntVar(&given.Bytes, "run-bytes", 0, fmt.Sprintf("bytes that a run leaves on the disk (default: %d with PostgreSQL, %d with SQLite; docs/scaling.md)", postgres.Bytes, sqlite.Bytes))
	for _, f := range costFlags() {
		flags.DurationVar(f.at(&given), f.name, 0, fmt.Sprintf("%s (default: %s with PostgreSQL, %s with SQLite; docs/scaling.md)", f.doc, *f.at(&postgres), *f.at(&sqlite)))
	}
	return c.withJSON(cmd, "one JSON object")
}

// costFlag is a flag for a cost that was measured.
type costFlag struct {
	name, doc string
	at        func(*scaling.Costs) *time.Duration
}

func costFlags() []costFlag {
	return []costFlag{
		{"node-cpu", "processor time of a node for a run", func(c *scaling.Costs) *time.Duration { return &c.NodeCPU }},
		{"database-cpu", "processor time of the database for a run", func(c *scaling.Costs) *time.Duration { return &c.DatabaseCPU }},
		{"flush", "time until what is committed is on the disk", func(c *scaling.Costs) *time.Duration { return &c.Flush }},
		{"lease-cpu", "processor time of the database for a driven run, each second", func(c *scaling.Costs) *time.Duration { return &c.LeaseCPU }},
		{"look-cpu", "processor time of the database for a driven run, each second and node that looks for runs", func(c *scaling.Costs) *time.Duration { return &c.LookCPU }},
		{"notify-cpu", "processor time of the database to tell a node of a write", func(c *scaling.Costs) *time.Duration { return &c.NotifyCPU }},
	}
}
