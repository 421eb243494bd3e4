package behaviour_test

// notes are of models that are asked to write a note.
func notes() []behaviour {
	const saved = "I saved the note as `decision.md`."
	outside := calls("vault_write", object("path", "../outside.md", "mode", "create", "content", "No cache."))
	return []behaviour{
		{name: "writes a note, and says so", ask: save, plays: plays(writes("decision.md"), says(saved)), plain: 2,
			ours: exactly(2), stop: "satisfied", holds: []string{saved},
			ran: []string{"vault_write"}},
		{name: "writes a note, and says so with a signal", ask: save, plays: plays(writes("decision.md"),
			turn(says(saved), done())), plain: 2, ours: exactly(2), stop: "satisfied",
			holds: []string{saved}, ran: []string{"vault_write"}},
		{name: "reads, writes a note, and says so", ask: save, plays: plays(readsNote("caching.md"),
			writes("decision.md"), says(saved)), plain: 3, ours: exactly(3),
			stop: "satisfied", holds: []string{saved}, ran: []string{"vault_read", "vault_write"}},
		{name: "says that a note is saved, and never writes", ask: save, plays: plays(says(saved)), plain: 1,
			ours: exactly(2), stop: "partial", warns: []string{unwritten},
			told: `(?i)writ`, wires: true},
		{name: "says with a signal that a note is saved, and never writes", ask: save,
			plays: plays(turn(says(saved), done())), plain: 1, ours: exactly(2), stop: "partial",
			warns: []string{unwritten}, told: `(?i)writ`},
		{name: "reads, says that a note is saved, and never writes", ask: save, plays: plays(readsNote("caching.md"),
			turn(says(saved), done())), plain: 2, ours: exactly(3),
			stop: "partial", warns: []string{unwritten}, told: `(?i)writ`, ran: []string{"vault_read"}},
		{name: "says that a note is saved, and writes when it is told", ask: save,
			plays: plays(says(saved), writes("decision.md"), says(saved)), plain: 1, ours: exactly(3),
			stop: "satisfied", holds: []string{saved}, ran: []string{"vault_write"}},
		{name: "says that a note is saved although it was there already", ask: save, plays: plays(writes("caching.md"),
			says(saved)), plain: 2, ours: exactly(3), stop: "partial",
			warns: []string{unwritten}, ran: []string{"vault_write!"}},
		{name: "says that a note is saved although its place was refused", ask: save,
			plays: plays(outside, turn(says(saved), done())), plain: 2, ours: exactly(3), stop: "partial",
			warns: []string{unwritten}, ran: []string{"vault_write!"}},
		{name: "writes in vain, and tries another name when it is told", ask: save, plays: plays(writes("caching.md"),
			says(saved), writes("decision.md"), says(saved)), plain: 2,
			ours: exactly(4), stop: "satisfied", holds: []string{saved}, ran: []string{"vault_write!", "vault_write"}},
		{name: "asks where a note shall go", ask: save, plays: plays(says("Which folder shall it go into?")), plain: 1,
			ours: exactly(1), stop: "needs_user",
			holds: []string{"Which folder"}},
	}
}
