package scaling

import (
	"math"
	"strings"
	"testing"
	"time"
)

// erlangC is the mean wait of M/M/c: so many arrive a second, c serve, each of them takes service on average.
func erlangC(arrivals, service float64, c int) (wait float64) {
	a, term, all := arrivals*service, 1.0, 0.0
	for k := range c {
		all += term
		term *= a / float64(k+1)
	}
	last := term * float64(c) / (float64(c) - a)
	return last / (all + last) / (float64(c)/service - arrivals)
}

func TestErlangCIsTheKnownFormula(t *testing.T) {
	// Of one server it is ρ/(1-ρ) times the service; of two ρ²/(1-ρ²).
	for c, want := range map[int]float64{1: 4, 2: 0.64 / 0.36} {
		if got := erlangC(0.8*float64(c), 1, c); math.Abs(got-want) > 1e-9 {
			t.Errorf("%d servers: %v; want %v", c, got, want)
		}
	}
}

// near says whether two figures differ by so small a share.
func near(got, want, share float64) bool { return math.Abs(got-want) <= share*want }

func TestWaitsAreThoseOfErlangC(t *testing.T) {
	const rate, seconds = 100.0, 1500.0
	for name, c := range map[string]struct {
		plan
		service float64
		servers int
		waited  func(waits) float64
	}{
		"room, 1":     {plan{room: 1, processors: 1, databases: 1, writes: 2, turns: 1, think: 0.007}, 0.007, 1, func(w waits) float64 { return w.room }},
		"room, 8":     {plan{room: 8, processors: 1, databases: 1, writes: 2, turns: 1, think: 0.06}, 0.06, 8, func(w waits) float64 { return w.room }},
		"node, 3":     {plan{room: 1e6, processors: 3, databases: 1, writes: 1, node: 0.024}, 0.024, 3, func(w waits) float64 { return w.node }},
		"database, 2": {plan{room: 1e6, processors: 1, databases: 2, writes: 1, database: 0.016}, 0.016, 2, func(w waits) float64 { return w.database }},
	} {
		c.arrivals, c.seed = rate, 7
		s := simulate(c.plan, seconds)
		got, want := sum(s.runs, c.waited)/float64(len(s.runs)), erlangC(rate, c.service, c.servers)
		if !near(got, want, 0.05) {
			t.Errorf("%s: a wait of %.3g s; Erlang's C has %.3g", name, got, want)
		}
	}
}

// As many are somewhere as arrive in a second, times the seconds that each of them is there.
func TestLinesAreAsLongAsLittlesLawHasThem(t *testing.T) {
	const seconds = 2000.0
	s := newSystem(plan{arrivals: 20, room: 30, processors: 4, databases: 2, writes: 7, turns: 3, node: 0.02, database: 0.01, disk: 0.002, think: 0.2, upkeep: 0.1, seed: 3})
	s.counted = true
	s.arrive()
	s.look()
	var samples, driven, waiting float64
	var sample func()
	sample = func() {
		samples, driven, waiting = samples+1, driven+float64(s.room.taken), waiting+float64(len(s.room.line))
		s.after(0.0999, sample)
	}
	sample()
	s.until(seconds)
	for what, c := range map[string][2]float64{
		"runs that are driven":      {driven / samples, sum(s.runs, func(w waits) float64 { return w.whole - w.room }) / seconds},
		"runs that wait for room":   {waiting / samples, sum(s.runs, func(w waits) float64 { return w.room }) / seconds},
		"room that is counted used": {s.room.used / seconds, driven / samples},
	} {
		if !near(c[0], c[1], 0.02) || c[1] < 0.1 {
			t.Errorf("%s: %.4g at once; the law has %.4g", what, c[0], c[1])
		}
	}
}

func TestDiskTakesAllWhoWaitAtOnce(t *testing.T) {
	c := &clock{}
	d := &disk{clock: c, takes: 2}
	var took []float64
	for _, at := range []float64{0, 1, 1.5, 10} {
		c.after(at, func() { d.flush(func(t float64) { took = append(took, t) }) })
	}
	c.until(20)
	want := []float64{2, 3, 2.5, 2} // the second and third are written together, when the first is
	for i := range want {
		if len(took) != len(want) || took[i] != want[i] {
			t.Fatalf("the writes took %v; want %v", took, want)
		}
	}
}

// office is a load with its cluster.
func office() (Load, Cluster) {
	return Load{Users: 1000, RunsADay: 20, Peak: 5, Turns: 3, ModelTime: 8 * time.Second, Retention: 30 * 24 * time.Hour},
		Cluster{Database: Postgres, Nodes: 3, MostRuns: 16, Cores: 2, DatabaseCores: 4, Connections: 100, Disk: 100}
}

func TestWhatIsUsedIsWhatIsAskedForAsLongAsAllKeepsUp(t *testing.T) {
	l, c := office()
	k := Measured(Postgres)
	k.NodeCPU, k.DatabaseCPU = 2*time.Second, 2*time.Second // so that it can be told apart from nothing
	r := Report{Load: l, Cluster: c, Costs: k, Arriving: float64(l.Users) * l.RunsADay * l.Peak / day}
	p := r.plan()
	s := simulate(p, 20_000)
	uses := map[string]float64{}
	for _, u := range r.uses(p, s.runs) {
		uses[u.What] = u.Used
	}
	for what, place := range map[string]place{"room for runs": s.room, "processors of nodes": s.node, "processors of the database": s.database} {
		if used := place.used / (20_000 * (1 - warmup)) / float64(place.most); !near(used, uses[what], 0.03) {
			t.Errorf("%s: %.3g used in the simulation, %.3g asked for", what, used, uses[what])
		}
	}
}

func TestFirstLimitIsWhatIsUsedMost(t *testing.T) {
	for what, change := range map[string]func(l *Load, c *Cluster, k *Costs){
		"room for runs":               func(_ *Load, c *Cluster, _ *Costs) { c.MostRuns = 10 },
		"disk of the database":        func(l *Load, _ *Cluster, _ *Costs) { l.Retention *= 12 },
		"connections of the database": func(_ *Load, c *Cluster, _ *Costs) { c.Nodes = 7 },
		"processors of nodes":         func(_ *Load, _ *Cluster, k *Costs) { k.NodeCPU = 5 * time.Second },
		"processors of the database":  func(_ *Load, _ *Cluster, k *Costs) { k.LookCPU = 40 * time.Millisecond },
	} {
		l, c := office()
		k := Measured(Postgres)
		change(&l, &c, &k)
		r, err := Estimate(l, c, k, 600, 1)
		if err != nil || r.Uses[0].What != what {
			t.Errorf("%s should be the first limit, error %v; of %v", what, err, r.Uses)
		}
	}
}

func TestWhatCannotKeepUpIsSaid(t *testing.T) {
	l, c := office()
	l.Users = 3000
	r, err := Estimate(l, c, Measured(Postgres), 3600, 1)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	// 48 runs at once of 24 s are 2 a second, of 3.5 that come: the line grows for all of the hour.
	if !near(r.Ending, 2, 0.05) || r.Waits[0].Mean < 300_000 || !strings.Contains(text.String(), "too much: more is asked of the room for runs than there is") {
		t.Errorf("%.3g runs end in a second, after %v:\n%s", r.Ending, r.Waits, text.String())
	}
}

func TestSameSeedGivesTheSameFigures(t *testing.T) {
	l, c := office()
	var texts []string
	for _, seed := range []uint64{1, 1, 2} {
		r, err := Estimate(l, c, Measured(Postgres), 600, seed)
		var text strings.Builder
		if err != nil || r.WriteText(&text) != nil {
			t.Fatal(err)
		}
		texts = append(texts, text.String())
	}
	if texts[0] != texts[1] || texts[0] == texts[2] {
		t.Errorf("seeds 1, 1 and 2 give\n%s", strings.Join(texts, "\n"))
	}
}

func TestImpossibleIsRefused(t *testing.T) {
	for name, change := range map[string]func(l *Load, c *Cluster, k *Costs){
		"no users":                func(l *Load, _ *Cluster, _ *Costs) { l.Users = 0 },
		"no nodes":                func(_ *Load, c *Cluster, _ *Costs) { c.Nodes = 0 },
		"two writers of one file": func(_ *Load, c *Cluster, _ *Costs) { c.Database = SQLite },
		"more turns than writes":  func(l *Load, _ *Cluster, _ *Costs) { l.Turns = 7 },
		"a time below 0":          func(_ *Load, _ *Cluster, k *Costs) { k.Flush = -1 },
	} {
		l, c := office()
		k := Measured(Postgres)
		change(&l, &c, &k)
		if _, err := Estimate(l, c, k, 0, 1); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
