package scaling

import (
	"cmp"
	"math"
	"slices"
)

const (
	day               = 24 * 60 * 60.0 // in seconds
	connectionsOfNode = 13             // to PostgreSQL at most: its pool, and three beside it
	leaseEvery        = 8.0 / 3        // seconds until a lease is renewed
	tellings          = 200.0          // of a node in a second at most, each of all runs that were written to since the last
	warmup            = 1.0 / 10       // of the time that is played is not counted
)

// Use is how much of something is used.
type Use struct {
	What   string  `json:"what"`
	Used   float64 `json:"used"`          // a share; more than 1 of what can't keep up
	FullAt int     `json:"full_at_users"` // about so many users use it up, with all else as it is; 0: it does not depend on them
}

// Wait is how long runs wait for something in all, in milliseconds.
type Wait struct {
	For  string  `json:"for"`
	Mean float64 `json:"mean_ms"`
	P99  float64 `json:"p99_ms"`
}

// Shares are what the database's processors do, as shares of all of them.
type Shares struct {
	Writes   float64 `json:"writes"`   // of records
	Leases   float64 `json:"leases"`   // that are renewed, and standings that are told
	Looks    float64 `json:"looks"`    // of nodes for runs that nobody drives
	Tellings float64 `json:"tellings"` // to nodes, of what others wrote
}

// Report is what is estimated for the busiest hour.
type Report struct {
	Load    Load    `json:"load"`
	Cluster Cluster `json:"cluster"`
	Costs   Costs   `json:"costs"`
	Seconds float64 `json:"simulated_seconds"`

	Arriving float64 `json:"runs_arriving"` // a second
	Ending   float64 `json:"runs_ending"`   // a second
	Driven   float64 `json:"runs_driven"`   // at once, on average
	Commits  float64 `json:"commits"`       // a second
	Leases   float64 `json:"leases"`        // renewed in a second
	Shares   Shares  `json:"shares"`        // of the database's processors
	Stored   float64 `json:"stored_gb"`     // once as much is removed as comes
	Uses     []Use   `json:"uses"`          // the first limit first
	Waits    []Wait  `json:"waits"`
}

// usualRuns is how many runs are played where nobody says how long.
const usualRuns = 20_000

// Estimate plays so many seconds like those of the busiest hour; 0: as many as show enough. The same seed gives the same figures.
func Estimate(l Load, c Cluster, costs Costs, seconds float64, seed uint64) (Report, error) {
	r := Report{Load: l, Cluster: c, Costs: costs, Seconds: seconds, Arriving: float64(l.Users) * l.RunsADay * l.Peak / day}
	if seconds == 0 {
		r.Seconds = max(600, min(math.Ceil(usualRuns/r.Arriving), day))
	}
	if err := r.check(); err != nil {
		return Report{}, err
	}
	r.Stored = float64(l.Users) * l.RunsADay * l.Retention.Hours() / 24 * float64(costs.Bytes) / 1e9
	p := r.plan()
	p.seed = seed
	s := simulate(p, r.Seconds)
	counted := r.Seconds * (1 - warmup)
	r.Ending, r.Driven = float64(len(s.runs))/counted, s.room.used/counted
	r.Commits, r.Leases = r.Ending*float64(p.writes), r.Driven/leaseEvery
	r.Waits = waitsOf(s.runs)
	r.Uses = r.uses(p, s.runs)
	return r, nil
}

// plan is the load and the costs as the simulation has them. It fills in Shares.
func (r *Report) plan() plan {
	l, c, k, writes := r.Load, r.Cluster, r.Costs, float64(r.Costs.Writes)
	p := plan{arrivals: r.Arriving, room: c.Nodes * c.MostRuns, processors: c.Nodes * c.Cores, databases: c.DatabaseCores, writes: k.Writes, turns: l.Turns,
		node: k.NodeCPU.Seconds() / writes, database: k.DatabaseCPU.Seconds() / writes, disk: k.Flush.Seconds(), think: l.ModelTime.Seconds()}
	cores, nodes, driven := float64(c.DatabaseCores), float64(c.Nodes), min(r.Arriving*p.held(), float64(p.room))
	r.Shares = Shares{Writes: r.Arriving * writes * p.database / cores, Leases: driven * k.LeaseCPU.Seconds() / cores, Looks: nodes * driven * k.LookCPU.Seconds() / cores,
		Tellings: nodes * min(r.Arriving*writes, nodes*tellings) * k.NotifyCPU.Seconds() / cores}
	p.upkeep = (r.Shares.Leases + r.Shares.Looks + r.Shares.Tellings) * cores
	return p
}

// held is how long a run is driven that waits for nothing but its model and the disk.
func (p plan) held() float64 {
	return float64(p.turns)*p.think + float64(p.writes)*(p.node+p.database+p.disk)
}

// uses are the shares of all that is there that so many arrivals ask for, the first limit first. By the utilization law they are what is
// used as long as all keeps up.
func (r *Report) uses(p plan, runs []waits) []Use {
	held, writes := p.held(), float64(p.writes)
	if len(runs) > 0 {
		held = sum(runs, func(w waits) float64 { return w.whole - w.room }) / float64(len(runs))
	}
	uses := []Use{
		{What: "room for runs", Used: p.arrivals * held / float64(p.room)},
		{What: "processors of nodes", Used: p.arrivals * writes * p.node / float64(p.processors)},
		{What: "processors of the database", Used: r.Shares.Writes + p.upkeep/float64(p.databases)},
		{What: "disk of the database", Used: r.Stored / r.Cluster.Disk},
	}
	for i, u := range uses {
		uses[i].FullAt = int(math.Round(float64(r.Load.Users) / u.Used))
	}
	if r.Cluster.Database == Postgres {
		uses = append(uses, Use{What: "connections of the database", Used: float64(r.Cluster.Nodes*connectionsOfNode) / float64(r.Cluster.Connections)})
	}
	slices.SortStableFunc(uses, func(a, b Use) int { return cmp.Compare(b.Used, a.Used) })
	return uses
}

func sum(runs []waits, of func(waits) float64) (all float64) {
	for _, w := range runs {
		all += of(w)
	}
	return all
}

func waitsOf(runs []waits) (all []Wait) {
	if len(runs) == 0 {
		return nil
	}
	for _, w := range []struct {
		what string
		of   func(waits) float64
	}{
		{"room to be driven", func(w waits) float64 { return w.room }},
		{"a processor of a node", func(w waits) float64 { return w.node }},
		{"a processor of the database", func(w waits) float64 { return w.database }},
		{"the disk of the database", func(w waits) float64 { return w.disk }},
	} {
		each := make([]float64, len(runs))
		for i, run := range runs {
			each[i] = 1000 * w.of(run)
		}
		slices.Sort(each)
		all = append(all, Wait{For: w.what, Mean: 1000 * sum(runs, w.of) / float64(len(runs)), P99: each[len(each)*99/100]})
	}
	return all
}
