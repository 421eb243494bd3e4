// Package record stores an inquiry: the session with its pairs, gaps and audit, the rules for it, its score, its file,
// and its evidence page.
//
// Guarantees:
//   - One form. The JSON names, required members and bounds are those of the types, which docs/inquiry.schema.json is
//     made of. Validate names every rule that a session breaks, all at once; what the schema alone can see (a member
//     that is missing, a value of another type) Check names.
//   - One score. Score is the published formula in whole numbers. No other number is shown as a score.
//   - Whole. A session file holds its old content or its new one, and never goes back to an earlier state of its
//     session.
//   - Provable. An evidence page is a function of the session and the chunks that it carries: whatever is shown can be
//     made again and compared, byte for byte. It needs no network and no script.
package record
