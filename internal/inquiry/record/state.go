package record

import "fmt"

// Status is what a session that runs becomes when it ends for this reason. A reason that is not known is an error.
func (r EndReason) Status() (Status, error) {
	switch r {
	case Satisfied:
		return Completed, nil
	case Limit, NoProgress, Collected:
		return LimitReached, nil
	case Stopped, Broken, TimedOut:
		return Failed, nil
	}
	return Running, fmt.Errorf("“%s” is no reason for the end of a session", short(string(r)))
}
