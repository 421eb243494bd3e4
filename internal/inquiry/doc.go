// Package inquiry is the Inquiry: a detective cross-examines a witness about a hypothesis until the answer is complete and consistent, and the audit
// shows it (requirement 4).
//
// Its parts: record is the session as it is kept and shown, rules the detective that needs no model, witness who answers. This package has what decides
// and asks: the leaves of trees/inquiry.xml, and Desk, which reads what was inquired.
//
// Guarantees:
//   - An inquiry is one run. After a crash it goes on where it was: no pair is lost, and no question that was answered is asked again.
//   - One inquiry of an owner goes on at a time: the journal's claim says so, and a second one is refused with the id of the first.
//   - What a rule or a model takes for a contradiction is a suspicion until the witness was asked about both answers and left both standing.
//   - The session's file follows from the run's records. It is rewritten whole after every pair, and again by whoever opens it, if a crash or a stop kept
//     it from being written.
//   - A model's answer that does not fit its form is asked for once more; then the rules do that step, and the pair says so. No score is invented.
package inquiry
