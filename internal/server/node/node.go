// Package node is what a server process does besides answering: it registers itself, resumes runs that nobody drives,
// and does duties periodically.
//
// Guarantees:
//   - The journal is the queue: a run that waits, and one whose process is gone, is found by the row it has, at the
//     latest a second after its lease ran out, or its process was seen to be gone, by every node that has room. Its
//     lease decides which of them drives it, its fence that no other does.
//   - Runs are resumed in turns between their owners, as run.Engine.Stranded lists them: none for which this process
//     lacks something.
//   - A duty is begun by one node each time that it is due. A node that dies in the middle of it leaves it for the next
//     time.
//   - A run that a node can't resume stays for others; this node tries it again after a pause that grows.
//   - Nothing is kept in memory that another node would miss.
package node

import (
	"context"
	"time"
)

// Node is a server process.
type Node struct {
	Holder    string    `json:"holder,omitempty" hidden:"true"` // its name in leases
	Name      string    `json:"name"`                           // for people
	Build     string    `json:"build"`
	Address   string    `json:"address" doc:"Where it listens."`
	StartedAt time.Time `json:"started_at"`
	SeenAt    time.Time `json:"seen_at" doc:"When it last said that it lives."`
	Most      int       `json:"most_runs,omitempty" doc:"That it drives at once; left out: any number."`
	Draining  bool      `json:"draining" doc:"It takes no more runs."`
	Runs      int       `json:"runs" doc:"That it drives, of all users."` // as leases tell; set by the registry
}

// lifeTime is how long a node that dies keeps looking alive.
const lifeTime = 5 * beat

// Lives says whether n was seen lately. One that was seen long after now was seen by a clock that was wrong.
func (n Node) Lives(now time.Time) bool { return now.Sub(n.SeenAt).Abs() < lifeTime }

// Registry is where nodes are known and duties are shared out. Implementations are safe for concurrent use, from
// several processes. Times are kept to the millisecond, in UTC.
type Registry interface {
	// Now is the time of the database, which all nodes agree on.
	Now(ctx context.Context) (time.Time, error)
	// Keep adds a node, or updates its state.
	Keep(ctx context.Context, n Node) error
	// Leave removes a node and ends its leases; nothing where there is none.
	Leave(ctx context.Context, holder string) error
	// Nodes lists the nodes, the first started first (ties by holder), with the runs whose leases they have at now.
	// Those that were not seen since long before are removed.
	Nodes(ctx context.Context, now time.Time) ([]Node, error)
	// TakeDuty is true for one caller each time that the duty of that name is due at now; it is due again after every.
	// A duty that nobody took yet is due, and so is one that is due later than a duty can be, which a clock that was
	// wrong has said: see LatestDue.
	TakeDuty(ctx context.Context, name string, now time.Time, every time.Duration) (bool, error)
}

// NodeRetention is how long a node that was not seen stays in the registry.
const NodeRetention = 24 * time.Hour

// RemoveGone are those of all nodes that were seen within Kept; the others leave.
func RemoveGone(all []Node, now time.Time, leave func(holder string) error) (living []Node, err error) {
	for _, n := range all {
		if !n.SeenAt.Add(NodeRetention).Before(now) {
			living = append(living, n)
		} else if err := leave(n.Holder); err != nil {
			return nil, err
		}
	}
	return living, nil
}

// LatestDue is when a duty is due at the latest that is due again after every: so far may clocks be apart.
func LatestDue(now time.Time, every time.Duration) time.Time { return now.Add(every + time.Minute) }

// Duty is what one of the nodes does periodically.
type Duty struct {
	Name  string
	Every time.Duration
	Do    func(ctx context.Context) error
}
