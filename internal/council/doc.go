// Package council is the Council: a person thinks aloud in a session, and oracles, which are personas written as Markdown files, answer with the
// whole context (requirement 2).
//
// Its parts: session is the folder that holds what was said and answered, persona the oracles, prompt the context that they are given, digest what
// rules can say where no model is there. This package has what decides and asks: the leaves of trees/council.xml, and Desk, the acts of a person.
//
// Guarantees:
//   - The folder is the truth for what it holds. Transcribing and asking are runs; adding, renaming and preferences are acts of the person, done at once.
//   - A run of an oracle begins with the very prompt that its model is sent, and with how it was made. What is added to the session later changes
//     neither. All oracles of one sitting have the same context; in a round of debate, what has no room beside the answers is left out of it, and named.
//   - An answer is written into the folder once, whatever crashes. One that can't be written is shown, stays in the journal, and is written by whoever next
//     opens the session (Desk.Open).
//   - One oracle that fails or times out harms no other, and half an answer is none. Answers of earlier rounds stand if a later one fails.
//   - Nothing that was said or answered reads as the header of an entry, as the heading of another's answer or as a placeholder.
//   - After a restart a run goes on where it was: an oracle that had answered is not asked again.
//   - A session is transcribed by one run at a time. One whose run has ended short is INTERRUPTED as soon as it is opened again.
package council
