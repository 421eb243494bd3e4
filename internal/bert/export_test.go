package bert

import "time"

// SetWaits sets how long loading may take, and how long a model that failed is left alone.
func (c *Classifier) SetWaits(loading, rest time.Duration) { c.loadTimeout, c.pause = loading, rest }

// Busy takes the turn, as a question under way does, until it is given back.
func (c *Classifier) Busy() (giveBack func()) {
	<-c.turn
	return func() { c.turn <- struct{}{} }
}
