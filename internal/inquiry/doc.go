// Package inquiry is the Inquiry: a detective cross-examines a witness about a hypothesis until the answer is complete
// and consistent, and the audit shows it.
//
// Its parts: record is the session as it is kept and shown, witness who answers, collect what is done without a
// detective. This package has what decides and asks: the leaves of trees/inquiry.xml, and Desk, which reads what was
// inquired.
//
// Guarantees:
//   - An inquiry is one run. After a crash it continues where it was: no pair is lost, and no question that was
//     answered is asked again.
//   - One inquiry of an owner runs at a time: the journal's claim guarantees it, and a second one is refused with the
//     id of the first.
//   - A contradiction is two quotations that stand letter by letter where it says. What a model reports is recorded,
//     confronted, unconfirmed, or shown as not verifiable: nothing of it vanishes, and nothing is judged without a
//     model.
//   - The session's file follows from the run's records. It is rewritten whole after every pair, and again by whoever
//     opens it, if a crash or a stop kept it from being written.
//   - A failure of a detective is recorded, at its pair. When no detective is left the inquiry has failed, without a
//     score, and its run waits to be resumed.
package inquiry
