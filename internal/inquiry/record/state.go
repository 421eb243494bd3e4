package record

import "fmt"

// Status is the status of a session that ended for this reason. An unknown reason is an error.
func (r EndReason) Status() (Status, error) {
	switch r {
	case Satisfied:
		return Completed, nil
	case Limit, NoProgress, Repeated, Collected:
		return LimitReached, nil
	case Stopped, Broken, TimedOut:
		return Failed, nil
	}
	return Running, fmt.Errorf("“%s” is no reason for the end of a session", short(string(r)))
}
