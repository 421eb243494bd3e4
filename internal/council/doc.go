// Package council is the Council: a person thinks aloud in a session, and oracles, which are personas written as
// Markdown files, answer with the whole context (requirement 2).
//
// Its subpackages: session stores the sessions, persona reads the oracles, prompt assembles the context. This package
// has the leaves of trees/council.xml with their effects, and Desk, which performs the actions of a person.
//
// Guarantees:
//   - The folder is authoritative for its content. Transcribing and asking are runs; adding, renaming and preferences
//     are actions of the person, done at once.
//   - The run of an oracle begins with the exact prompt that its model is sent, and a description of it. Later changes
//     of the session affect neither. All oracles of a sitting have the same context.
//   - An answer is written into the folder exactly once, even after crashes. One that can't be written is shown, stays
//     in the journal, and is written when the session is next opened (Desk.Open).
//   - An oracle that fails or times out affects no other, and its partial answer does not count. If the chair fails,
//     the answers remain.
//   - Without a model no oracle answers: the offline rules never write into a session's history.
//   - A chair's sentence is attributed to the oracles whose answers contain the words it quotes; others that it names
//     are marked as unproven.
//   - A session is READY only if the context of an answer contained everything that was said in it.
//   - No text said or answered can look like the header of an entry, the heading of an answer or a placeholder.
//   - After a restart a run continues where it was: an oracle that has answered is not asked again.
//   - A session is transcribed by one run at a time. If nobody drives that run any more, the session is INTERRUPTED.
package council
