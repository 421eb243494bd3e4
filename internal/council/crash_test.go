package council_test

import (
	"context"
)

// leave has a process that is dead let go of all that it drives.
func (p *process) leave() {
	now, cut := context.WithCancel(p.Context())
	cut()
	p.service.Drain(now)
}
