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
	cmd := &cobra.Command{Use: "scaling", Short: "Estimate the resources a number of users need, and which runs out first", Args: cobra.NoArgs,
		Long: "Simulates the busiest hour of this many users on a model of the nodes and their database, using\n" +
			"measured costs. Prints how much of each resource is used, how long runs wait, and which limit is\n" +
			"reached first. docs/scaling.md says how the costs were measured and what the simulation leaves out.\n" +
			"The same seed gives the same figures.",
		Example: "  sibyl eval scaling --users 1000 --nodes 3\n  sibyl eval scaling --users 10 --nodes 1 --on sqlite",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if load.Retention, err = config.Age(retention); err != nil {
				return withCode(ExitUsage, fmt.Errorf("--retention is %q; use days, such as 365d", retention))
			}
			if cluster.Database != scaling.Postgres && cluster.Database != scaling.SQLite {
				return withCode(ExitUsage, fmt.Errorf("--on is %q; use %s or %s", cluster.Database, scaling.Postgres, scaling.SQLite))
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
	flags.IntVar(&load.Users, "users", 1000, "number of users")
	flags.Float64Var(&load.RunsADay, "runs-a-day", 20, "runs per user and day")
	flags.Float64Var(&load.Peak, "peak", 5, "how many times more runs the busiest hour has than an average one")
	flags.DurationVar(&load.ModelTime, "model-time", 8*time.Second, "time the model takes for a turn; a run has three turns")
	flags.StringVar(&retention, "retention", "365d", "how long runs are kept")
	flags.IntVar(&cluster.Nodes, "nodes", 3, "number of server processes")
	flags.IntVar(&cluster.MostRuns, "most-runs", 16, "maximum concurrent runs per node, as in server.most_runs")
	flags.IntVar(&cluster.Cores, "cores", 2, "CPU cores per node")
	flags.StringVar(&cluster.Database, "on", scaling.Postgres, "the database: "+scaling.Postgres+" or "+scaling.SQLite)
	flags.IntVar(&cluster.DatabaseCores, "database-cores", 4, "CPU cores of the database")
	flags.IntVar(&cluster.Connections, "connections", 100, "connections the database accepts, as in PostgreSQL's max_connections")
	flags.Float64Var(&cluster.Disk, "disk", 500, "disk space of the database in GB")
	flags.Float64Var(&seconds, "seconds", 0, "simulated time in seconds (default: until 20,000 runs have started, between 10 minutes and a day)")
	flags.Uint64Var(&seed, "seed", 1, "seed of the random arrival times")
	postgres, sqlite := scaling.Measured(scaling.Postgres), scaling.Measured(scaling.SQLite)
	flags.IntVar(&given.Bytes, "run-bytes", 0, fmt.Sprintf("bytes a run leaves on disk (default: %d with PostgreSQL, %d with SQLite; docs/scaling.md)", postgres.Bytes, sqlite.Bytes))
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
		{"node-cpu", "CPU time of a node per run", func(c *scaling.Costs) *time.Duration { return &c.NodeCPU }},
		{"database-cpu", "CPU time of the database per run", func(c *scaling.Costs) *time.Duration { return &c.DatabaseCPU }},
		{"flush", "time until a commit is on disk", func(c *scaling.Costs) *time.Duration { return &c.Flush }},
		{"lease-cpu", "CPU time of the database per active run and second", func(c *scaling.Costs) *time.Duration { return &c.LeaseCPU }},
		{"look-cpu", "CPU time of the database per active run, second and node that looks for runs", func(c *scaling.Costs) *time.Duration { return &c.LookCPU }},
		{"notify-cpu", "CPU time of the database to notify a node of a write", func(c *scaling.Costs) *time.Duration { return &c.NotifyCPU }},
	}
}
