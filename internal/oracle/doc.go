// Package oracle answers questions over code, notes and the web (docs/requirements.md).
//
// A question is classified by its words, and its class decides which tools are offered. A tree (trees/oracle.xml) asks
// the model turn by turn, reads the signal of each reply and decides what follows. This package has the tree's leaves
// and the facts they pass on, performs its two effects (a turn of the model, a call of a tool), and composes the answer
// from the receipts.
//
// Guarantees:
//   - Leaves are pure; what they know is on the blackboard as facts and record numbers, never as messages.
//   - A tool that was not offered is not called, whatever the model writes. A tool that writes is offered only for the
//     class "action", and not once text from strangers has been read.
//   - Text of tools is neutralised before a model sees it; control messages never travel in the tool channel.
//   - Sources of an answer are places whose text was read in this run. A citation of anything else is reported as
//     unsupported.
//   - The answer is composed from receipts: with the same records it is the same.
package oracle
