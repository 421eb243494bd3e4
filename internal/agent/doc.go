// Package agent is what an assistant with a model and tools needs, whatever it is for: the turn of the model, calls of
// tools, the transcript, what was spent and tried, loops, notices, and the sources and receipts behind an answer. An
// assistant brings its own prompt, its own way to read a reply, and its own tree.
//
// Guarantees:
//   - Leaves are pure. What they know stands on the blackboard as facts and record numbers, never as messages: a
//     transcript is a list of records, and the request is built of them when its turn is performed.
//   - A turn's payload names the turn before it and what has come since, so that the journal grows with the
//     conversation and not with its square.
//   - A tool that is not offered is not called, whatever the model writes. One that writes is not called once text from
//     strangers has been read.
//   - Text of tools is neutralised before a model sees it; control messages never travel in the tool channel.
//   - Calls of one turn are taken in one by one: a time-out drops none that is done.
package agent
