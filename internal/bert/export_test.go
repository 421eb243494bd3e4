package bert

import "time"

// SetClock makes c see the time that now tells.
func (c *Classifier) SetClock(now func() time.Time) { c.now = now }

// Busy takes the turn, as a question under way does, until it is given back.
func (c *Classifier) Busy() (giveBack func()) {
	<-c.turn
	return func() { c.turn <- struct{}{} }
}

// Rest is rest.
const Rest = rest
