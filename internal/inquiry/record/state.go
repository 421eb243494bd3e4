package record

import "fmt"

// transitions say what each reason of an end makes of a session that runs. Nothing leads on from another status.
var transitions = map[EndReason]Status{
	Satisfied:  Completed,
	Limit:      LimitReached,
	NoProgress: LimitReached,
	Collected:  LimitReached,
	Stopped:    Failed,
	Broken:     Failed,
	TimedOut:   Failed,
}

// Next is the status that a session of this one has when it ends for a reason. What is not legal is an *Illegal, and the status stays.
func (st Status) Next(reason EndReason) (Status, error) {
	next, known := transitions[reason]
	if st != Running || !known {
		return st, &Illegal{Status: st, Reason: reason}
	}
	return next, nil
}

// known says whether there is such a status.
func (st Status) known() bool { return st == Running || st.ended() }

func (st Status) ended() bool { return st == Completed || st == Failed || st == LimitReached }

// Illegal is an end that the status of a session does not allow.
type Illegal struct {
	Status Status
	Reason EndReason
}

func (e *Illegal) Error() string {
	switch {
	case !e.Status.known():
		return fmt.Sprintf("the session has the status “%s”, which is not known", short(string(e.Status)))
	case e.Status.ended():
		return fmt.Sprintf("the session has ended, as %s: it can't end again (“%s”)", e.Status, short(string(e.Reason)))
	}
	return fmt.Sprintf("“%s” is no reason for an end; there is %s, %s, %s, %s, %s, %s and %s", short(string(e.Reason)), Satisfied, Limit, NoProgress, Collected, Stopped, Broken, TimedOut)
}
