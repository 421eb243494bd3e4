// Package taskchat is the task assistant: it keeps a to-do list by conversation, and reaches tasks by tools alone.
//
// Guarantees:
//   - A change is made only of what was resolved to exactly the tasks that were meant, at the version that was seen.
//     Else the person is asked.
//   - A deletion is performed only with the pending row that asked for it consumed by the very next message of its
//     conversation, and only if that is a clear yes by rules; a model's word is none.
//   - What a model proposes goes the same way through the tree as what the rules read.
//   - Every call leaves a receipt; nothing is said to be done without one.
//
// After a restart: a conversation is its runs. Its metadata is in the row of the last one that has ended, its open
// question is a pending row. Nothing is kept in memory.
package taskchat
